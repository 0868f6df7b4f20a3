package cost_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// The authority revises its values every quarter: a landing in a later one brings a warning.
// The port infrastructure charge is a range since July 2026, and both are no alarm.
func TestWarningsAboutTheLaterValueAndThePort(t *testing.T) {
	t.Parallel()
	day := func(date string) time.Time {
		at, err := time.ParseInLocation(time.DateOnly, date, localtime.Zone)
		if err != nil {
			t.Fatal(err)
		}
		return at.Add(12 * time.Hour)
	}
	for _, c := range []struct{ asked, from, to, want string }{
		{"2026-04-01", "2026-04-01", "2026-06-30", ""},
		{"2026-04-01", "2026-04-01", "2026-07-01", "value_may_change port_charge_unconfirmed"},
		{"2026-11-22", "2026-12-31", "2026-12-31", "port_charge_unconfirmed"},
		{"2026-11-22", "2027-01-01", "2027-01-01", "value_may_change port_charge_unconfirmed"},
	} {
		at := day(c.asked)
		e := vehicle.Estimate{
			Tax: answer(at, 2019, 1496, "PETROL", "3199"), Car: vehicle.Car{FOBPriceUSD: number("4000"), M3: number("11")},
			AsOf: at.Format(time.RFC3339),
		}
		var got []string
		for _, w := range cost.Embedded().Calculate(e, onDays(cost.DefaultRate, day(c.from), day(c.to)), at).Warnings {
			if w.Level == message.Info && w.Code != cost.WarnFeesOld {
				got = append(got, w.Code)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Why a value is taxed is said in one place of an answer, whatever the price.
func TestWhyAValueIsTaxedStandsOnce(t *testing.T) {
	t.Parallel()
	for _, price := range []string{"", "500", "2000", "9000"} {
		e := vehicle.Estimate{Tax: answer(november, 2016, 1496, "PETROL", "3199"), Car: vehicle.Car{M3: number("11")}}
		if price != "" {
			e.Car.FOBPriceUSD = number(price)
		}
		a := cost.Embedded().Calculate(e, onDays(cost.DefaultRate, november, november), november)
		all, err := json.Marshal([]any{a.Summary, a.DriveAway, a.Warnings})
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{"reportedly taxes the higher", "Inaripotiwa kwamba TRA hutoza kodi kwa thamani"} {
			if n := strings.Count(string(all), said); n != 1 {
				t.Errorf("at %q: %q %d times", price, said, n)
			}
		}
		taxes := a.Summary.Taxes
		used := map[string]*vehicle.TaxOn{"onAuthority": taxes.OnAuthority, "onInvoice": taxes.OnInvoice}[taxes.Used]
		if used == nil || used.TZS != taxes.TZS {
			t.Errorf("at %q: %s is not the taxes %d: %+v", price, taxes.Used, taxes.TZS, used)
		}
		if !slices.Contains([]string{"authority_cif", "invoice_cif", "undecided", "no_price"}, taxes.Why.Code) {
			t.Errorf("at %q: why %q", price, taxes.Why.Code)
		}
	}
}

// A price under USD 200, under a tenth of the authority's value or above ten times it may be
// in another unit: the answer says so and is not trusted, whichever of the two prices it is.
func TestAPriceThatIsHardlyThatOfTheCar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fob, cf, want string }{
		{fob: "4.60", want: "price_implausible"},
		{fob: "199.99", want: "price_implausible"},
		{fob: "200", want: "price_implausible"}, // a tenth of 3,199
		{fob: "319.90"},
		{fob: "319.89", want: "price_implausible"},
		{fob: "31990"},
		{fob: "31991", want: "price_implausible"},
		{cf: "5", want: "price_implausible"},
		{fob: "4", cf: "3000", want: "price_implausible"},
		{fob: "2000", cf: "3000"},
		{},
	} {
		e := vehicle.Estimate{
			Tax: answer(november, 2016, 1496, "PETROL", "3199"), Car: vehicle.Car{M3: number("11")},
			Matched: vehicle.Matched{Confidence: vehicle.High},
		}
		if c.fob != "" {
			e.Car.FOBPriceUSD = number(c.fob)
		}
		if c.cf != "" {
			e.Car.CFPriceUSD = number(c.cf)
		}
		a := cost.Embedded().Calculate(e, onDays(cost.DefaultRate, november, november), november)
		got := ""
		for _, w := range a.Warnings {
			if w.Code == cost.WarnImplausible {
				got = w.Code
				if w.Level != message.Caution || w.Text.SW == "" {
					t.Errorf("%+v: %+v", c, w)
				}
			}
		}
		if got != c.want || got != "" && a.Summary.Confidence != vehicle.Low {
			t.Errorf("%+v: got %q with confidence %s, want %q", c, got, a.Summary.Confidence, c.want)
		}
	}
}
