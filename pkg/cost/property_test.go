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
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

var _ = testenv.FewChecks()

// drawn is an estimate of some car, at some rate, on some day.
type drawn struct {
	estimate vehicle.Estimate
	rate     decimal.Decimal
	now      time.Time
}

func draw(t *rapid.T) drawn {
	cents := func(label string, least, most int) decimal.Decimal {
		return decimal.New(int64(rapid.IntRange(least, most).Draw(t, label)), -2)
	}
	now := time.Date(rapid.IntRange(2025, 2028).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")),
		rapid.IntRange(1, 28).Draw(t, "day"), 12, 0, 0, 0, time.UTC)
	fuel := rapid.SampledFrom([]string{"PETROL", "DIESEL", "PETROL & ELECTRIC", "ELECTRIC"}).Draw(t, "fuel")
	tax := answer(now, now.Year()-rapid.IntRange(0, 30).Draw(t, "age"), rapid.IntRange(0, 5000).Draw(t, "cc"), fuel,
		cents("CIF", 20_000, 8_000_000).String())
	tax.BodyType = rapid.SampledFrom([]string{"SUV", "HATCHBACK", "", "SPACESHIP"}).Draw(t, "body")
	tax.Country = rapid.SampledFrom([]string{"JAPAN", "GERMANY"}).Draw(t, "country")
	if rapid.Bool().Draw(t, "odd answer") { // which the formula does not reproduce
		tax.VATInUSD = money.New(tax.VATInUSD.Decimal().Mul(dec("1.01")).Round(2))
	}
	var car vehicle.Car
	priced := rapid.IntRange(0, 3).Draw(t, "priced")
	if priced&1 != 0 {
		car.FOBPriceUSD = numberOf(cents("FOB", 1, 9_000_000))
	}
	if priced&2 != 0 {
		car.CFPriceUSD = numberOf(cents("C&F", 1, 9_000_000))
	}
	if rapid.Bool().Draw(t, "listed volume") {
		car.M3 = numberOf(cents("m3", 300, 4000))
	}
	return drawn{vehicle.Estimate{Car: car, Tax: tax}, cents("rate", 50_000, 900_000), now}
}

func numberOf(d decimal.Decimal) *money.Number {
	n := money.NewNumber(d)
	return &n
}

func (d drawn) calculate() vehicle.DriveAway {
	drive, _ := landed(cost.Embedded(), d.estimate, d.rate, d.now)
	return drive
}

func TestTotalsAreTheSumOfTheirLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drive := draw(t).calculate()
		for name, of := range map[string]struct {
			total money.Amount
			line  func(vehicle.CostLine) money.Amount
		}{
			"USD":      {drive.TotalUSD, func(l vehicle.CostLine) money.Amount { return l.AmountUSD }},
			"TZS":      {drive.TotalTZS, func(l vehicle.CostLine) money.Amount { return l.AmountTZS }},
			"low USD":  {drive.LowUSD, func(l vehicle.CostLine) money.Amount { return l.LowUSD }},
			"low TZS":  {drive.LowTZS, func(l vehicle.CostLine) money.Amount { return l.LowTZS }},
			"high USD": {drive.HighUSD, func(l vehicle.CostLine) money.Amount { return l.HighUSD }},
			"high TZS": {drive.HighTZS, func(l vehicle.CostLine) money.Amount { return l.HighTZS }},
		} {
			sum := decimal.Zero
			for _, l := range drive.Lines {
				printed, err := money.Parse(of.line(l).String())
				if err != nil {
					t.Fatal(err)
				}
				sum = sum.Add(printed.Decimal())
			}
			if money.New(sum).String() != of.total.String() {
				t.Errorf("%s: the lines make %s, the total is %s", name, money.New(sum), of.total)
			}
		}
	})
}

func TestLinesLieInTheirRangesAndAreNeverNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		for _, l := range d.calculate().Lines {
			for _, moneyRange := range [][3]money.Amount{{l.LowUSD, l.AmountUSD, l.HighUSD}, {l.LowTZS, l.AmountTZS, l.HighTZS}} {
				low, amount, high := moneyRange[0].Decimal(), moneyRange[1].Decimal(), moneyRange[2].Decimal()
				if low.IsNegative() || low.GreaterThan(amount) || amount.GreaterThan(high) {
					t.Errorf("%s: %s ≤ %s ≤ %s does not hold", l.Code, low, amount, high)
				}
			}
			if l.Source == "" || l.Date == "" || l.Basis == "" || l.Name.EN == "" || l.Name.SW == "" {
				t.Errorf("%s says too little of itself: %+v", l.Code, l)
			}
		}
	})
}

// What is not tax has its other currency at the rate, but for the rounding of
// each: neither is converted from a figure that was rounded before.
func TestEachLineIsRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		drive := d.calculate()
		for _, l := range drive.Lines {
			rate := d.rate
			if l.Standing == vehicle.Official {
				rate = drive.Exchange.Taxes.Decimal()
			}
			if l.Code == "import_taxes" {
				continue // both are the authority's, from figures that are not printed
			}
			half := dec("0.005")
			apart := l.AmountUSD.Decimal().Mul(rate).Sub(l.AmountTZS.Decimal()).Abs()
			if apart.GreaterThan(half.Mul(rate).Add(half)) {
				t.Errorf("%s: USD %s is not TZS %s at %s", l.Code, l.AmountUSD, l.AmountTZS, rate)
			}
		}
	})
}

func TestADearerCarIsNeverCheaperInAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		if d.estimate.Car.FOBPriceUSD == nil && d.estimate.Car.CFPriceUSD == nil {
			return // no price to raise
		}
		before := d.calculate()
		more := decimal.New(int64(rapid.IntRange(1, 500_000).Draw(t, "more")), -2)
		for _, price := range []**money.Number{&d.estimate.Car.FOBPriceUSD, &d.estimate.Car.CFPriceUSD} {
			if *price != nil {
				*price = numberOf((*price).Decimal().Add(more))
			}
		}
		after := d.calculate()
		// At the edge the authority's printed cents give way to the formula's:
		// five cents, and the port charge on them.
		slack := dec("0.06").Mul(dec("1.2"))
		for _, pair := range [][2]money.Amount{{before.TotalUSD, after.TotalUSD}, {before.LowUSD, after.LowUSD}, {before.HighUSD, after.HighUSD}} {
			if pair[1].Decimal().Add(slack).LessThan(pair[0].Decimal()) {
				t.Errorf("USD %s more: %s, then %s", more, pair[0], pair[1])
			}
		}
	})
}

// A price that brings the CIF a cent above the authority's changes the taxes
// by cents, not by a jump.
func TestTheInvoiceFloorIsContinuousAtItsEdge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.estimate.Car.FOBPriceUSD = nil
		own := d.estimate.Tax.CIFInUSD.Decimal()
		taxes := func(cif decimal.Decimal) vehicle.CostLine {
			d.estimate.Car.CFPriceUSD = numberOf(cif.Div(dec("1.015")).Round(6)) // with insurance
			for _, l := range d.calculate().Lines {
				if l.Code == "import_taxes" {
					return l
				}
			}
			t.Fatal("no taxes")
			return vehicle.CostLine{}
		}
		below, above := taxes(own.Sub(dec("0.01"))), taxes(own.Add(dec("0.01")))
		if below.AmountUSD.String() != d.estimate.Tax.TotalImportTaxesInUSD.String() {
			t.Errorf("below the edge %s, the authority has %s", below.AmountUSD, d.estimate.Tax.TotalImportTaxesInUSD)
		}
		if step := above.AmountUSD.Decimal().Sub(below.AmountUSD.Decimal()).Abs(); step.GreaterThan(dec("0.10")) {
			t.Errorf("at the edge the taxes go from %s to %s", below.AmountUSD, above.AmountUSD)
		}
	})
}

// Only what is not tax follows the caller's rate.
func TestTaxesDoNotFollowTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		before := d.calculate()
		d.rate = d.rate.Add(decimal.NewFromInt(1000))
		after := d.calculate()
		for i, l := range before.Lines {
			same := after.Lines[i].AmountTZS.String() == l.AmountTZS.String() && after.Lines[i].AmountUSD.String() == l.AmountUSD.String()
			isTax := l.Code == "import_taxes" || l.Code == "hiv_levy" || l.Code == "registration"
			if isTax != same && !l.AmountUSD.Decimal().IsZero() {
				t.Errorf("%s: %s and %s, then %s and %s", l.Code, l.AmountUSD, l.AmountTZS, after.Lines[i].AmountUSD, after.Lines[i].AmountTZS)
			}
		}
	})
}

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
