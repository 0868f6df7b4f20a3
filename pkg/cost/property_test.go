package cost_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/cost"
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
