package advice

import (
	_ "embed" // for scale.csv

	"ushuru/pkg/datatable"

	"github.com/shopspring/decimal"
)

// scaleTable has the weights and limits of the verdict, each with its reason.
//
//go:embed scale.csv
var scaleTable string

var scale = parseScale(scaleTable)

func parseScale(data string) map[string]decimal.Decimal {
	values := map[string]decimal.Decimal{}
	for _, row := range datatable.Rows(data) {
		values[row[0]] = decimal.RequireFromString(row[1])
	}
	return values
}

// whole returns a whole number of the scale.
func whole(code string) int { return int(scale[code].IntPart()) }
