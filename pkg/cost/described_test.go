package cost_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Who describes a car has no listing: in no language, and whatever the price.
func TestACarThatIsDescribedHasNoListing(t *testing.T) {
	for name, price := range map[string]*money.Number{
		"no price": nil, "below": number("500"), "in between": number("2000"), "above": number("9000"),
	} {
		e := vehicle.Estimate{Tax: answer(november, 2016, 1496, "PETROL", "3199"), Car: vehicle.Car{FOBPriceUSD: price, M3: number("11")}}
		drive, warnings := cost.Embedded().DriveAway(e, cost.DefaultRate, november)
		said := func(drive vehicle.DriveAway, warnings []vehicle.Warning) string {
			data, err := json.Marshal([]any{drive, warnings})
			if err != nil {
				t.Fatal(err)
			}
			return strings.ToLower(string(data))
		}
		before := said(drive, warnings)
		described := said(drive.Described(), vehicle.Described(warnings))
		for _, word := range []string{"listing", "tangazo"} {
			if !strings.Contains(before, word) || strings.Contains(described, word) {
				t.Errorf("%s: %q in\n%s\nand\n%s", name, word, before, described)
			}
		}
		if said(drive, warnings) != before {
			t.Errorf("%s: the drive-away cost of the listing changed", name)
		}
	}
}
