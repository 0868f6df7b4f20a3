package cost_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// A price without its freight is no CIF: that it is below the authority's
// value says nothing.
func TestWithoutFreightTheTaxBaseIsUndecided(t *testing.T) {
	ended := func(code, unit, value string) string {
		return `{"lines": [{"code": "` + code + `", "fees": [{"until": "2026-01-31", "amount": {"value": "` + value + `", "unit": "` +
			unit + `"}, "standing": "quoted", "source": "our line", "date": "2026-01"}]}]}`
	}
	freight, insurance := ended("freight", "USD/m3", "100"), ended("insurance", "C&F", "0.01")
	for _, c := range []struct{ name, table, fob, cf, basis, taxed string }{
		{"freight ended, price below", freight, "2400", "", vehicle.BasisUndecided, "2,439.00"},
		{"freight ended, price above alone", freight, "3000", "", vehicle.BasisInvoice, "3,045.00"},
		{"freight ended, but in the price", freight, "", "2000", vehicle.BasisAuthority, "2,439.00"},
		{"insurance ended, price below", insurance, "", "2400", vehicle.BasisUndecided, "2,439.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables, err := tablesOf(t, c.table)
			if err != nil {
				t.Fatal(err)
			}
			e := vehicle.Estimate{Tax: forester}
			if c.fob != "" {
				e.Car.FOBPriceUSD = number(c.fob)
			} else {
				e.Car.CFPriceUSD = number(c.cf)
			}
			drive, warnings := landed(tables, e, cost.DefaultRate, november)
			base := drive.TaxBase
			if base.Basis != c.basis || base.CIFInUSD.String() != c.taxed {
				t.Errorf("%s on %s, want %s on %s", base.Basis, base.CIFInUSD, c.basis, c.taxed)
			}
			whole := c.basis == vehicle.BasisAuthority
			warned := slices.ContainsFunc(warnings, func(w vehicle.Warning) bool {
				return w.Code == cost.WarnUndecided && strings.Contains(w.Message, "reight or insurance is not known")
			})
			if drive.Complete != whole || (base.InvoiceCIF != nil) != whole || warned == whole {
				t.Errorf("complete %v, CIF %v, warned %v", drive.Complete, base.InvoiceCIF, warned)
			}
		})
	}
}

// The tables have the figures of shipments from Japan only.
func TestACarOutsideJapanHasNoFreightFromJapan(t *testing.T) {
	for country, want := range map[string]string{"": "", "JAPAN": "", "UNITED ARAB EMIRATES": "freight insurance"} {
		e := vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("2400"), LocatedIn: country}, Tax: forester}
		drive, _ := landed(cost.Embedded(), e, cost.DefaultRate, november)
		var missing []string
		for _, m := range drive.Missing {
			if strings.Contains(m.Reason, "figures for Japan") {
				missing = append(missing, m.Code)
			}
		}
		slices.Sort(missing)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(missing, wanted) {
			t.Errorf("%q: %q, want %q", country, missing, wanted)
		}
	}
}

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
