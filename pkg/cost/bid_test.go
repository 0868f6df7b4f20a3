package cost_test

import (
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

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
