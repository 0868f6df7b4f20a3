package cost_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Each scenario lies between the low and the high, one of a question is that of the headline
// to the cent, and the dearest question stands first.
func TestScenariosLieInsideTheRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 12))
	seen := map[string]int{}
	for range 1500 {
		q := randomQuote(r)
		got := cost.Embedded().Calculate(q.estimate, q.terms, q.now).DriveAway
		for i, s := range got.Scenarios {
			seen[s.Code]++
			total := s.TotalTZS.Decimal()
			// Each of some twenty lines is rounded to the cent by itself.
			if total.LessThan(got.LowTZS.Decimal().Sub(dec("1"))) || total.GreaterThan(got.HighTZS.Decimal().Add(dec("1"))) {
				t.Errorf("%s: %s is outside %s to %s: %+v, TRA's year %d", s.Code, s.TotalTZS, got.LowTZS, got.HighTZS, q.estimate.Car, q.estimate.Tax.YOM)
			}
			if s.Likely && s.Question != "tax_base" && s.TotalTZS.String() != got.TotalTZS.String() {
				t.Errorf("%s is the likely one, with %s, and the headline %s", s.Code, s.TotalTZS, got.TotalTZS)
			}
			if s.Text.EN == "" || s.Settle.SW == "" {
				t.Errorf("%+v", s)
			}
			if i == 0 && s.Likely && (got.Assumes == nil || got.Assumes.EN != s.Text.EN) {
				t.Errorf("the headline assumes %v, want %q", got.Assumes, s.Text.EN)
			}
		}
		if !got.Complete && len(got.Scenarios) > 0 {
			t.Errorf("scenarios of a cost that is not complete: %+v", got.Missing)
		}
	}
	for _, code := range []string{"own_year", "listed_year", "authority_value", "invoice_value", "law_of", "law_as_charged", "freight_low", "freight_high", "insurance_low", "insurance_high", "landed_before", "landed_after"} {
		if seen[code] == 0 {
			t.Errorf("%q was never seen: %v", code, seen)
		}
	}
}

// The highest price put back in meets the target, as an answer at it says, and a dollar more
// does not.
func TestTheHighestPriceJustMeetsTheTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		target := decimal.NewFromInt(int64(rapid.IntRange(1, 400).Draw(t, "million"))).Mul(decimal.NewFromInt(1_000_000))
		tables, terms := cost.Embedded(), onDays(d.rate, d.now, d.now.AddDate(0, 0, 60))
		bid := terms
		bid.Target = &vehicle.Target{OnTheRoadTZS: money.NewNumber(target)}
		got := tables.Apply(d.estimate, bid, d.now).MaxPrice
		total := func(price int64, withSea bool) cost.Answer {
			e, usd := d.estimate, money.NewNumber(decimal.NewFromInt(price))
			if e.Car.FOBPriceUSD, e.Car.CFPriceUSD = &usd, nil; withSea {
				e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, &usd
			}
			return tables.Calculate(e, terms, d.now)
		}
		for withSea, limits := range map[bool]*vehicle.PriceLimits{false: got.FOB, true: got.CF} {
			if limits == nil {
				if total(1, withSea).DriveAway.Complete {
					t.Fatal("the cost is complete, and there is no price")
				}
				continue
			}
			for name, limit := range map[string]struct {
				price *int64
				of    func(cost.Answer) decimal.Decimal
			}{
				"low": {limits.Low, func(a cost.Answer) decimal.Decimal {
					return larger(a.DriveAway.HighTZS, a.Summary.OnTheRoad.HighTZS)
				}},
				"likely": {limits.Likely, func(a cost.Answer) decimal.Decimal {
					return larger(a.DriveAway.TotalTZS, a.Summary.OnTheRoad.TZS)
				}},
				"high": {limits.High, func(a cost.Answer) decimal.Decimal {
					return larger(a.DriveAway.LowTZS, a.Summary.OnTheRoad.LowTZS)
				}},
			} {
				most := int64(0)
				if limit.price != nil {
					most = *limit.price
					if limit.of(total(most, withSea)).GreaterThan(target) {
						t.Fatalf("%s (C&F %v): USD %d is above the target", name, withSea, most)
					}
				}
				if !limit.of(total(most+1, withSea)).GreaterThan(target) {
					t.Fatalf("%s (C&F %v): USD %d meets the target too", name, withSea, most+1)
				}
			}
			if limits.Low != nil && (*limits.Low > *limits.Likely || *limits.Likely > *limits.High) {
				t.Fatalf("%d, %d, %d", *limits.Low, *limits.Likely, *limits.High)
			}
		}
	})
}

// larger returns the larger of the exact sum and the one that people read.
func larger(exact money.Amount, said int64) decimal.Decimal {
	return decimal.Max(exact.Decimal(), decimal.NewFromInt(said))
}

func lineOf(d vehicle.DriveAway, code string) (line vehicle.CostLine) {
	for _, l := range d.Lines {
		if l.Code == code {
			return l
		}
	}
	return line
}

// byMonth returns the cost of an estimate by the month of landing.
func byMonth(e vehicle.Estimate, now time.Time) vehicle.ByMonth {
	return *cost.Embedded().Apply(e, vehicle.Terms{ByMonth: true}, now).Summary.ByMonth
}

func TestTheAxioCostsMoreFromJanuaryOn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, localtime.Zone)
	got := byMonth(axio(t), now)
	if len(got.Months) != 12 || got.Months[0].Month != "2026-11" || got.Months[11].Month != "2027-10" {
		t.Fatalf("%+v", got.Months)
	}
	summary := cost.Embedded().Calculate(axio(t), vehicle.Terms{}, now).Summary
	for _, m := range got.Months {
		want := summary.OnTheRoad.TZS // lands on 28 January
		if m.Month < "2027" {
			want = summary.IfLandedBy.OnTheRoad.TZS
		}
		if m.OnTheRoad.TZS != want || m.Assumed != (m.Month >= "2027-07") {
			t.Errorf("%s: %d, assumed %t; want %d", m.Month, m.OnTheRoad.TZS, m.Assumed, want)
		}
	}
	if got.Text.EN != "TRA revises its values every three months: those of today are used. "+
		"From July 2027 on, the tax rules of a new financial year hold. They are not known yet: those of today are used." {
		t.Error(got.Text.EN)
	}
}

func TestMonthsThatCannotBeKnownAreMarked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, localtime.Zone)
	for name, change := range map[string]func(*vehicle.Estimate){
		"a bus":         func(e *vehicle.Estimate) { e.Tax.BodyType = "BUS" },
		"unknown rules": func(e *vehicle.Estimate) { e.Tax.ExiseDutyDueToAgeInUSD = e.Tax.ImportDutyInUSD },
		"no value":      func(e *vehicle.Estimate) { e.Tax.CIFInUSD = vehicle.Tax{}.CIFInUSD },
	} {
		e := axio(t)
		change(&e)
		got := byMonth(e, now)
		for _, m := range got.Months {
			if m.Assumed != (m.Month >= "2027" || name == "no value") {
				t.Errorf("%s, %s: assumed %t", name, m.Month, m.Assumed)
			}
		}
	}
	e := axio(t)
	e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, nil
	for _, m := range byMonth(e, now).Months {
		if m.OnTheRoad != nil {
			t.Errorf("%s has a cost without a price", m.Month)
		}
	}
	if cost.Embedded().Apply(axio(t), vehicle.Terms{}, now).Summary.ByMonth != nil {
		t.Error("months without a request for them")
	}
}

// TestAMonthIsTheCostOfItsLanding compares the months with estimates of their own, for any
// car on any day.
func TestAMonthIsTheCostOfItsLanding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		got := byMonth(d.estimate, d.now)
		today := d.now.In(localtime.Zone)
		for i, m := range got.Months {
			first := time.Date(today.Year(), today.Month()+time.Month(i), 1, 0, 0, 0, 0, localtime.Zone)
			if m.Month != first.Format("2006-01") {
				t.Fatalf("month %d is %s", i, m.Month)
			}
			if i == 0 {
				first = today
			}
			last := time.Date(today.Year(), today.Month()+time.Month(i)+1, 0, 0, 0, 0, 0, localtime.Zone)
			terms := onDays(cost.DefaultRate, first, last)
			want := cost.Embedded().Calculate(d.estimate, terms, d.now).Summary.OnTheRoad
			if (m.OnTheRoad == nil) != (want == nil) || want != nil && *m.OnTheRoad != *want {
				t.Fatalf("%s: %+v, want %+v", m.Month, m.OnTheRoad, want)
			}
		}
	})
}
