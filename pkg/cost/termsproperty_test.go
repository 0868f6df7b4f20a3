package cost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// drawTerms returns terms with some landing days and some figures of a caller.
func drawTerms(t *rapid.T, d drawn) vehicle.Terms {
	from := d.now.AddDate(0, 0, rapid.IntRange(0, 400).Draw(t, "from"))
	terms := onDays(d.rate, from, from.AddDate(0, 0, rapid.IntRange(0, 90).Draw(t, "days")))
	if rapid.Bool().Draw(t, "usual landing") {
		terms.Landing = nil
	}
	terms.Costs = &vehicle.Costs{}
	for _, typed := range typedFigures {
		if rapid.IntRange(0, 3).Draw(t, "typed "+typed.name) == 0 {
			typed.set(terms.Costs, numberOf(decimal.NewFromInt(int64(rapid.IntRange(1, 3000).Draw(t, typed.name)))))
		}
	}
	return terms
}

// typedFigures are the figures that a caller can type. Within is the line in whose
// range the figure must lie: another figure changes the value that is taxed, and with
// it the range of the taxes.
var typedFigures = []struct {
	name, within string
	set          func(*vehicle.Costs, *money.Number)
}{
	{"freightUSD", "freight", func(c *vehicle.Costs, n *money.Number) { c.FreightUSD = n }},
	{"insuranceUSD", "insurance", func(c *vehicle.Costs, n *money.Number) { c.InsuranceUSD = n }},
	{"shippingM3", "", func(c *vehicle.Costs, n *money.Number) { c.ShippingM3 = n }},
	{"inspectionUSD", "", func(c *vehicle.Costs, n *money.Number) { c.InspectionUSD = n }},
	{"bankUSD", "", func(c *vehicle.Costs, n *money.Number) { c.BankUSD = n }},
	{"agentTZS", "", func(c *vehicle.Costs, n *money.Number) { c.AgentTZS = n }},
	{"portTZS", "", func(c *vehicle.Costs, n *money.Number) { c.PortTZS = n }},
	{"inlandTZS", "", func(c *vehicle.Costs, n *money.Number) { c.InlandTZS = n }},
	{"otherTZS", "", func(c *vehicle.Costs, n *money.Number) { c.OtherTZS = n }},
}

// sixNumbers returns the numbers of a sum, by their names.
func sixNumbers(s vehicle.Sum) map[string]int64 {
	return map[string]int64{
		"tzs": s.TZS, "lowTZS": s.LowTZS, "highTZS": s.HighTZS, "usd": s.USD, "lowUSD": s.LowUSD, "highUSD": s.HighUSD,
	}
}

// The three parts are on the road, in each of the six numbers, and no sum is outside
// its range.
func TestThePartsAddUpToOnTheRoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		s := cost.Embedded().Calculate(d.estimate, drawTerms(t, d), d.now).Summary
		sums := map[string]*vehicle.Sum{
			"on the road": s.OnTheRoad, "car": s.CarAndShipping, "port": s.PortAndLocal, "port and taxes": s.PortAndTaxesOnly,
		}
		if s.Taxes != nil {
			sums["taxes"] = &s.Taxes.Sum
		}
		if s.IfLandedBy != nil {
			sums["if landed by"] = s.IfLandedBy.OnTheRoad
		}
		for name, sum := range sums {
			if sum != nil && (sum.LowTZS > sum.TZS || sum.TZS > sum.HighTZS || sum.LowUSD > sum.USD || sum.USD > sum.HighUSD || sum.LowTZS < 0) {
				t.Errorf("%s: %+v", name, *sum)
			}
		}
		whole := s.CarAndShipping != nil && s.Taxes != nil && s.PortAndLocal != nil
		if whole != (s.OnTheRoad != nil) || whole == (len(s.Missing) > 0) || whole && s.PortAndTaxesOnly != nil {
			t.Fatalf("complete %v: %+v", whole, s)
		}
		total, parts := s.OnTheRoad, []*vehicle.Sum{sums["car"], sums["taxes"], sums["port"]}
		if !whole {
			total, parts = s.PortAndTaxesOnly, parts[1:]
		}
		if total == nil {
			return
		}
		for name, want := range sixNumbers(*total) {
			got := int64(0)
			for _, part := range parts {
				got += sixNumbers(*part)[name]
			}
			if got != want {
				t.Errorf("%s: the parts make %d, the sum is %d", name, got, want)
			}
		}
	})
}

// A car that lands later is older, and costs no less as long as no rule or tariff
// changes. The tables have no change after July 2026.
func TestALaterLandingIsNeverCheaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		from := d.now.AddDate(0, 0, rapid.IntRange(0, 300).Draw(t, "from"))
		days := rapid.IntRange(0, 90).Draw(t, "days")
		later := from.AddDate(0, 0, rapid.IntRange(1, 400).Draw(t, "later"))
		last := later.AddDate(0, 0, days)
		if duty.On(d.now).From != duty.On(last).From || dayOf(from) < "2026-07-01" {
			return // other rules or tariffs hold on some of the days
		}
		totals := func(from time.Time) vehicle.DriveAway {
			return cost.Embedded().Calculate(d.estimate, onDays(d.rate, from, from.AddDate(0, 0, days)), d.now).DriveAway
		}
		first, second := sumsOf(totals(from)), sumsOf(totals(later))
		unknown := last.After(duty.Current().SettledUntil(d.now)) // the low is then that of other rules
		for name := range first {
			if second[name].LessThan(first[name]) && (!unknown || !strings.HasPrefix(name, "low")) {
				t.Errorf("%s: %s on %s, %s on %s", name, first[name], dayOf(from), second[name], dayOf(later))
			}
		}
	})
}

// sumsOf returns the exact sums of a cost, by their names.
func sumsOf(d vehicle.DriveAway) map[string]decimal.Decimal {
	return map[string]decimal.Decimal{
		"usd": d.TotalUSD.Decimal(), "lowUSD": d.LowUSD.Decimal(), "highUSD": d.HighUSD.Decimal(),
		"tzs": d.TotalTZS.Decimal(), "lowTZS": d.LowTZS.Decimal(), "highTZS": d.HighTZS.Decimal(),
	}
}

// What the caller types is exact: it never makes the range wider.
func TestTypedFiguresNeverWidenTheRange(t *testing.T) {
	cents := dec("0.02") // each line is rounded
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		terms := drawTerms(t, d)
		before := cost.Embedded().Calculate(d.estimate, terms, d.now)
		typed := rapid.SampledFrom(typedFigures).Draw(t, "figure")
		figure := decimal.NewFromInt(int64(rapid.IntRange(0, 5_000_000).Draw(t, "value")))
		if typed.within != "" {
			l := lineOf(before.DriveAway, typed.within)
			if l.Code == "" {
				return
			}
			share := decimal.New(int64(rapid.IntRange(0, 100).Draw(t, "share")), -2)
			figure = l.LowUSD.Decimal().Add(l.HighUSD.Decimal().Sub(l.LowUSD.Decimal()).Mul(share)).Round(2)
		}
		if typed.name == "shippingM3" {
			if d.estimate.Car.M3 != nil || terms.Costs.ShippingM3 != nil {
				return // exact already
			}
			figure = dec("12") // lies in the range of each body
		}
		costs := *terms.Costs
		typed.set(&costs, numberOf(figure))
		terms.Costs = &costs
		after := cost.Embedded().Calculate(d.estimate, terms, d.now)
		wide, narrow := sumsOf(before.DriveAway), sumsOf(after.DriveAway)
		for _, currency := range []string{"USD", "TZS"} {
			was := wide["high"+currency].Sub(wide["low"+currency])
			is := narrow["high"+currency].Sub(narrow["low"+currency])
			slack := cents
			if typed.within != "" && currency == "TZS" { // the figure was rounded to the cent
				slack = cents.Mul(d.rate)
			}
			if is.GreaterThan(was.Add(slack)) {
				t.Errorf("%s %s: the range in %s is %s wide, then %s", typed.name, figure, currency, was, is)
			}
		}
	})
}
