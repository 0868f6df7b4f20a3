package advice

import (
	_ "embed" // for phrases.csv
	"encoding/csv"
	"fmt"
	"strings"

	"ushuru/pkg/vehicle"
)

// phraseTable has the sentences of the template in both languages by code: the
// points, the criteria, and the text around them. Code replaces the names in braces
// by figures. The Kiswahili is a draft until a native speaker approves it; its tax
// and car terms are those of Tanzanian customs and press.
//
//go:embed phrases.csv
var phraseTable string

var phrases = parsePhrases(phraseTable)

func parsePhrases(data string) map[string]vehicle.Text {
	rows, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("advice: phrases: %v", err))
	}
	phrases := make(map[string]vehicle.Text, len(rows))
	for _, row := range rows[1:] {
		phrases[row[0]] = vehicle.Text{EN: row[1], SW: row[2]}
	}
	return phrases
}

// Warn returns a warning of a comparison: worded_by_ai; sheet_not_read, for car n,
// with the code of the error; sheet_mismatch, for car n, with the fields.
func Warn(lang, code string, with map[string]string) vehicle.Warning {
	return vehicle.Warning{Code: code, Message: say(lang, code, with)}
}

// say returns a phrase in a language, with values for its names.
func say(lang, code string, with map[string]string) string {
	text := phrases[code].EN
	if lang == Swahili {
		text = phrases[code].SW
	}
	return fill(text, with)
}
