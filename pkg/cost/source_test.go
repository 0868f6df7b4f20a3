package cost_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// A car that the caller describes has no listing: in no language, and whatever
// the price.
func TestMessagesNameTheSourceOfTheCar(t *testing.T) {
	for name, price := range map[string]*money.Number{
		"no price": nil, "below": number("500"), "in between": number("2000"), "above": number("9000"),
	} {
		text := func(source vehicle.Source) string {
			e := vehicle.Estimate{
				Tax: answer(november, 2016, 1496, "PETROL", "3199"),
				Car: vehicle.Car{FOBPriceUSD: price, M3: number("11"), Source: source},
			}
			drive, warnings := landed(cost.Embedded(), e, cost.DefaultRate, november)
			data, err := json.Marshal([]any{drive, warnings})
			if err != nil {
				t.Fatal(err)
			}
			return strings.ToLower(string(data))
		}
		listed, described := text(vehicle.FromListing), text(vehicle.FromRequest)
		for _, words := range [][2]string{{"listing", "request"}, {"tangazo", "ombi"}} {
			if !strings.Contains(listed, words[0]) || strings.Contains(described, words[0]) || !strings.Contains(described, words[1]) {
				t.Errorf("%s: %q in\n%s\nand\n%s", name, words, listed, described)
			}
		}
	}
}
