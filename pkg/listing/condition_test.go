package listing_test

import (
	"strings"
	"testing"

	"ushuru/pkg/listing"
)

// What the listing itself says of faults is kept with its words; a denial is not.
func TestTheListingsOwnWordsOnTheCondition(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		"Accident history: Yes": "disqualify", "Condition: Flood damaged": "disqualify", "Condition: Salvage": "disqualify",
		"Odometer status: Not actual": "disqualify", "Repair history: Yes": "disqualify",
		"Accident history: No": "", "Accident history: None": "", "Condition: Used": "", "Salvage: No": "", "Remarks: Anti-theft alarm": "",
		"Remarks: Accident free": "", "修復歴: なし": "", "修復歴: あり": "disqualify",
	} {
		label, value, _ := strings.Cut(row, ": ")
		body := `<html><head><title>TOYOTA PASSO 2017</title></head><body><h1>TOYOTA PASSO 2017</h1><table>` +
			`<tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>PASSO</td></tr><tr><th>Year</th><td>2017</td></tr>` +
			`<tr><th>Price</th><td>USD 4,000</td></tr><tr><th>Model code</th><td>DBA-M700A</td></tr>` +
			`<tr><th>` + label + `</th><td>` + value + `</td></tr></table></body></html>`
		got, err := listing.Read(t.Context(), listing.FromFile([]byte(body), "https://cars.example.com/1"))
		if err != nil {
			t.Fatal(err)
		}
		level := ""
		if len(got.Car.Condition) > 0 {
			level = got.Car.Condition[0].Level
		}
		if level != want {
			t.Errorf("%s: got %q %+v, want %q", row, level, got.Car.Condition, want)
		}
	}
}
