package cost_test

import (
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The highest price put back in meets the target, and a dollar more does not.
func TestTheHighestPriceJustMeetsTheTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		target := decimal.NewFromInt(int64(rapid.IntRange(1, 400).Draw(t, "million"))).Mul(decimal.NewFromInt(1_000_000))
		tables, terms := cost.Embedded(), onDays(d.rate, d.now, d.now.AddDate(0, 0, 60))
		got := tables.MaxPrice(d.estimate, terms, d.now, target)
		total := func(price int64, withSea bool) vehicle.DriveAway {
			e, usd := d.estimate, money.NewNumber(decimal.NewFromInt(price))
			if e.Car.FOBPriceUSD, e.Car.CFPriceUSD = &usd, nil; withSea {
				e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, &usd
			}
			return tables.Calculate(e, terms, d.now).DriveAway
		}
		for withSea, limits := range map[bool]*vehicle.PriceLimits{false: got.FOB, true: got.CF} {
			if limits == nil {
				if total(1, withSea).Complete {
					t.Fatal("the cost is complete, and there is no price")
				}
				continue
			}
			for name, limit := range map[string]struct {
				price *int64
				of    func(vehicle.DriveAway) money.Amount
			}{
				"low":    {limits.Low, func(d vehicle.DriveAway) money.Amount { return d.HighTZS }},
				"likely": {limits.Likely, func(d vehicle.DriveAway) money.Amount { return d.TotalTZS }},
				"high":   {limits.High, func(d vehicle.DriveAway) money.Amount { return d.LowTZS }},
			} {
				most := int64(0)
				if limit.price != nil {
					most = *limit.price
					if limit.of(total(most, withSea)).Decimal().GreaterThan(target) {
						t.Fatalf("%s (C&F %v): USD %d is above the target", name, withSea, most)
					}
				}
				if !limit.of(total(most+1, withSea)).Decimal().GreaterThan(target) {
					t.Fatalf("%s (C&F %v): USD %d meets the target too", name, withSea, most+1)
				}
			}
			if limits.Low != nil && (*limits.Low > *limits.Likely || *limits.Likely > *limits.High) {
				t.Fatalf("%d, %d, %d", *limits.Low, *limits.Likely, *limits.High)
			}
		}
	})
}

func lineOf(d vehicle.DriveAway, code string) (line vehicle.CostLine) {
	for _, l := range d.Lines {
		if l.Code == code {
			return l
		}
	}
	return line
}
