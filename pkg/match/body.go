package match

import (
	_ "embed" // bodies.csv
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
)

//go:embed bodies.csv
var bodyTable string

// bodyClasses folds body words, by their NameKey.
var bodyClasses = func() map[string]string {
	classes := map[string]string{}
	for _, row := range datatable.Rows(bodyTable) {
		for word := range strings.FieldsSeq(row[1]) {
			classes[word] = row[0]
		}
	}
	return classes
}()

// bodyWords may stand at the end of a model's name only to repeat the body:
// HIACE VAN is HIACE. COMMUTER is the makers' word for a minibus.
var bodyWords = strings.Fields("SEDAN SALOON WAGON ESTATE HATCHBACK SUV MINIVAN MPV VAN TRUCK PICKUP COUPE CONVERTIBLE " +
	"MINIBUS BUS COMMUTER")

// bodyClass folds a body word; words not in the table are "".
func bodyClass(body string) string {
	if class, plain := bodyClasses[body]; plain {
		return class
	}
	return bodyClasses[chassis.NameKey(body)]
}
