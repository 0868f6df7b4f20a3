package cost_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

// quote is a random car with what a caller may know of it.
type quote struct {
	estimate vehicle.Estimate
	terms    vehicle.Terms
	now      time.Time
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomQuote draws a car of any country, basis, fuel, age and landing.
func randomQuote(r *rand.Rand) quote {
	now := time.Date(2025+r.IntN(3), time.Month(1+r.IntN(12)), 1+r.IntN(28), 9, 0, 0, 0, localtime.Zone)
	own := now.Year() - r.IntN(30)
	cif := decimal.NewFromInt(int64(800 + r.IntN(20_000)))
	tax := answer(now, own+pick(r, 0, 0, 0, -3, -1, 2), pick(r, 660, 998, 1496, 1998, 3500), pick(r, "PETROL", "DIESEL", "PETROL & ELECTRIC", "ELECTRIC"), cif.String())
	tax.BodyType = pick(r, "SUV", "HATCHBACK", "BUS", "TRUCK", "MOTORCYCLE", "")
	if r.IntN(12) == 0 {
		tax.CIFInUSD = money.Amount{}
	}
	e := vehicle.Estimate{
		Tax: tax, AsOf: now.Format(time.RFC3339), Matched: vehicle.Matched{Confidence: pick(r, vehicle.High, vehicle.Medium, vehicle.Low)},
		Car: vehicle.Car{
			Year: own, YearBasis: pick(r, "manufacture", "registration", "model", ""),
			LocatedIn: pick(r, "", "JAPAN", "UNITED KINGDOM", "UNITED ARAB EMIRATES", "SINGAPORE", "SOUTH AFRICA"),
		},
	}
	price := decimal.NewFromInt(int64(300 + r.IntN(20_000)))
	fob, cf := numberOf(price), numberOf(price.Add(decimal.NewFromInt(int64(pick(r, 1, 700, 1500)))))
	switch r.IntN(4) {
	case 0:
		e.Car.FOBPriceUSD = fob
	case 1:
		e.Car.CFPriceUSD = cf
	case 2:
		e.Car.FOBPriceUSD, e.Car.CFPriceUSD = fob, cf
	}
	q := quote{estimate: e, now: now, terms: vehicle.Terms{Rate: decimal.NewFromInt(int64(pick(r, 2450, 2650, 3200)))}}
	if r.IntN(2) == 0 {
		from := now.AddDate(0, 0, r.IntN(500))
		q.terms = onDays(q.terms.Rate, from, from.AddDate(0, 0, r.IntN(60)))
	}
	if r.IntN(3) == 0 {
		q.terms.Costs = &vehicle.Costs{FreightUSD: number("900"), InsuranceUSD: number("40")}
	}
	return q
}

// Every sentence with a claim is true of its answer, whatever the car. Each claim has its own
// test here, from the figures of the answer alone.
func TestNoSentenceIsFalse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 11))
	said := map[string]int{}
	for range testenv.Pick(2000, 500) {
		q := randomQuote(r)
		got := cost.Embedded().Calculate(q.estimate, q.terms, q.now)
		for claim, isTrue := range claims(q, got) {
			said[claim]++
			if !isTrue {
				data, _ := json.Marshal(q.estimate.Car)
				t.Errorf("%s is said, and false: %s, TRA's year %d, %s %s; %s", claim, data, q.estimate.Tax.YOM,
					q.now.Format(time.DateOnly), got.Summary.Landing.Likely, got.Summary.AuthorityTaxes.Why.EN)
			}
		}
	}
	for _, claim := range []string{"price", "age", "year", "rules", "same", "unknown", "no_value", "without_freight", "port_and_taxes", "on_the_road", "rates_apart", "freight_implausible"} {
		if said[claim] == 0 {
			t.Errorf("%q was never said: %v", claim, said)
		}
	}
}

// claims returns what the sentences of an answer claim, and whether that is so.
func claims(q quote, got cost.Answer) map[string]bool {
	all, base := map[string]bool{}, got.DriveAway.TaxBase
	own, car := q.estimate.Tax.CIFInUSD.Decimal(), q.estimate.Car
	likely, _ := time.ParseInLocation(time.DateOnly, got.Summary.Landing.Likely, localtime.Zone)
	priced := car.FOBPriceUSD != nil || car.CFPriceUSD != nil
	gap := func(code string) bool {
		for _, m := range got.DriveAway.Missing {
			if m.Code == code {
				return true
			}
		}
		return false
	}
	known := priced && !gap("freight") && !gap("insurance")
	expect, _ := decimal.NewFromString(got.Summary.AuthorityTaxes.Why.Values["expect"])
	why := strings.TrimPrefix(got.Summary.AuthorityTaxes.Why.Code, "taxes_")
	for claim := range strings.SplitSeq(strings.ReplaceAll(why, "no_value", "novalue"), "_") {
		switch claim {
		case "price":
			all[claim] = known && own.IsPositive() && base.CIFInUSD.Decimal().GreaterThan(own)
		case "age":
			all[claim] = duty.Age(likely, car.Year) > duty.Age(q.now, car.Year)
		case "year":
			all[claim] = car.Year != q.estimate.Tax.YOM
		case "rules":
			all[claim] = duty.On(likely).From != duty.On(q.now).From
		case "same":
			all[claim] = known && expect.Equal(decimal.NewFromInt(got.Summary.AuthorityTaxes.TZS))
		case "unknown":
			all[claim] = !known
		case "novalue":
			all["no_value"] = !own.IsPositive()
		default:
			all["an unknown claim: "+why] = false
		}
	}
	switch s := got.Summary; s.Text.Code {
	case "without_freight":
		all["without_freight"] = priced && !known && s.OnTheRoad == nil && s.WithoutFreight != nil
	case "port_and_taxes":
		all["port_and_taxes"] = !priced // it says that the price of the car is not known
	case "on_the_road", "on_the_road_day":
		all["on_the_road"] = s.OnTheRoad != nil && got.DriveAway.Complete
	}
	for _, w := range got.Warnings {
		switch w.Code {
		case cost.WarnAboveAuthority:
			all[w.Code] = base.Basis == vehicle.BasisInvoice && base.CIFInUSD.Decimal().GreaterThan(own)
		case cost.WarnNoPrice:
			all[w.Code] = !priced
		case cost.WarnRatesApart:
			ratio, _ := got.DriveAway.Exchange.Taxes.Decimal().Div(got.DriveAway.Exchange.Others.Decimal()).Float64()
			all[w.Code] = ratio < 0.9 || ratio > 1.1
		case cost.WarnFreightOdd:
			all[w.Code] = car.CFPriceUSD.Decimal().Sub(car.FOBPriceUSD.Decimal()).LessThan(decimal.NewFromInt(100)) &&
				got.Summary.Car != nil == (got.Summary.CarAndShipping != nil)
		case cost.WarnValueChanges:
			all[w.Code] = got.DriveAway.Landing.To >= quarterAfter(q.now)
		}
	}
	return all
}

// quarterAfter returns the first day of the next quarter.
func quarterAfter(day time.Time) string {
	return time.Date(day.Year(), (day.Month()-1)/3*3+4, 1, 0, 0, 0, 0, localtime.Zone).Format(time.DateOnly)
}

// Lines that are paid inside Tanzania say so.
func TestLinesPaidInTanzaniaAreInShillings(t *testing.T) {
	t.Parallel()
	e, _ := quotedPrice(november)
	drive, _ := landed(cost.Embedded(), e, cost.DefaultRate, november)
	abroad := []string{"car_price", "freight", "insurance", "inspection", "radiation_check", "bank_fee", "other_costs"}
	for _, l := range drive.Lines {
		if want := !strings.Contains(strings.Join(abroad, " "), l.Code); (l.PaidIn == "TZS") != want {
			t.Errorf("%s is paid in %q", l.Code, l.PaidIn)
		}
	}
}

// A car that was not inspected before shipment is inspected once: TBS at destination stands
// in place of the inspection.
func TestAnInspectionIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		country string
		costs   *vehicle.Costs
		want    string
	}{
		{"JAPAN", nil, "inspection"},
		{"UNITED KINGDOM", nil, "tbs_destination"},
		{"UNITED ARAB EMIRATES", nil, "tbs_destination"},
		{"UNITED KINGDOM", &vehicle.Costs{InspectionUSD: number("120")}, "inspection"},
		{"UNITED KINGDOM", &vehicle.Costs{Inspection: new(false)}, ""},
	} {
		e, _ := quotedPrice(november)
		e.Tax.Country, e.Car.LocatedIn = c.country, c.country
		terms := onDays(cost.DefaultRate, november, november)
		terms.Costs = c.costs
		var got []string
		for _, l := range cost.Embedded().Calculate(e, terms, november).DriveAway.Lines {
			if l.Code == "inspection" || l.Code == "tbs_destination" {
				got = append(got, l.Code)
				if l.Code == "tbs_destination" && l.AmountTZS.String() != "350,000.00" {
					t.Errorf("%s: TBS is %s", c.country, l.AmountTZS)
				}
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %q", c.country, got, c.want)
		}
	}
}
