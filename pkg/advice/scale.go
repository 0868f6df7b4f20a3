package advice

import (
	_ "embed" // for scale.csv
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// scaleTable has the weights and limits of the verdict, each with its reason.
//
//go:embed scale.csv
var scaleTable string

var scale = parseScale(scaleTable)

func parseScale(data string) map[string]decimal.Decimal {
	rows, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("advice: scale: %v", err)) // embedded: only a broken build gets here
	}
	values := make(map[string]decimal.Decimal, len(rows))
	for _, row := range rows[1:] {
		values[row[0]] = decimal.RequireFromString(row[1])
	}
	return values
}

// whole returns a whole number of the scale.
func whole(code string) int { return int(scale[code].IntPart()) }
