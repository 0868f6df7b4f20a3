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

// A typed freight beside a price that contains one is not used, and the caller learns
// it in both languages.
func TestFreightBesideAPriceThatContainsIt(t *testing.T) {
	for name, c := range map[string]struct {
		car  vehicle.Car
		want string
	}{
		"C&F only":    {vehicle.Car{CFPriceUSD: number("2000")}, cost.WarnFreightInPrice},
		"FOB and C&F": {vehicle.Car{FOBPriceUSD: number("1000"), CFPriceUSD: number("2000")}, ""},
		"no price":    {vehicle.Car{}, cost.WarnNoPrice},
	} {
		terms := onDays(cost.DefaultRate, autumn, autumn)
		terms.Costs = &vehicle.Costs{FreightUSD: number("700")}
		answer := cost.Embedded().Calculate(vehicle.Estimate{Car: c.car, Tax: forester}, terms, autumn)
		if got := codesOf(answer.Warnings); got != c.want {
			t.Errorf("%s: warnings %q, want %q", name, got, c.want)
		}
		for _, w := range answer.Warnings {
			if w.Level == "" || w.Text == nil || w.Text.SW == "" {
				t.Errorf("%s: no level, or not in both languages: %+v", name, w)
			}
		}
	}
}
