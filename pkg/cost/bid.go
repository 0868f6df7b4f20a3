package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// MaxPrice returns the highest prices of the car, FOB and C&F, at which its cost on
// the road is within a target in shillings.
func (t *Tables) MaxPrice(e vehicle.Estimate, terms vehicle.Terms, now time.Time, target decimal.Decimal) vehicle.MaxPrice {
	search := func(withSea bool) *vehicle.PriceLimits {
		total := func(price int64) (spread moneyRange, ok bool) {
			b := t.sums(priced(e, price, withSea), terms, now)
			return b.asRead(b.exact().tzs), len(b.missing) == 0
		}
		return limits(total, target, target.Div(rateOf(terms)).IntPart()+1) // a price that is certainly above it
	}
	return vehicle.MaxPrice{TargetTZS: target.IntPart(), FOB: search(false), CF: search(true)}
}

// asRead returns a total as the answer at the price says it, where rounding makes it more:
// no answer at the highest price may name more than the target.
func (b *calculation) asRead(exact moneyRange) moneyRange {
	said := b.onTheRoad()
	if said == nil {
		return exact
	}
	more := func(exact decimal.Decimal, said int64) decimal.Decimal {
		return decimal.Max(exact, decimal.NewFromInt(said))
	}
	return moneyRange{more(exact.low, said.LowTZS), more(exact.amount, said.TZS), more(exact.high, said.HighTZS)}
}

// priced returns an estimate at another price.
func priced(e vehicle.Estimate, price int64, withSea bool) vehicle.Estimate {
	usd := money.NewNumber(decimal.NewFromInt(price))
	if e.Car.FOBPriceUSD, e.Car.CFPriceUSD = &usd, nil; withSea {
		e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, &usd
	}
	return e
}

// limits searches the prices at which the highest, the likely and the lowest total
// just meet the target. It returns nil when something to pay is not known, and a nil
// price where even a car for one dollar costs more. A car for above costs more in any
// case.
func limits(total func(int64) (moneyRange, bool), target decimal.Decimal, above int64) *vehicle.PriceLimits {
	least, ok := total(1)
	if !ok {
		return nil
	}
	most, _ := total(above)
	known := map[int64]moneyRange{1: least, above: most}
	search := func(of func(moneyRange) decimal.Decimal) *int64 {
		sum := func(price int64) decimal.Decimal {
			if _, has := known[price]; !has {
				known[price], _ = total(price)
			}
			return of(known[price])
		}
		if sum(1).GreaterThan(target) {
			return nil
		}
		fits, tooHigh := int64(1), above
		for step := 0; fits+1 < tooHigh; step++ {
			price := (fits + tooHigh) / 2
			if step%3 < 2 { // totals are lines with a few bends
				price = between(fits, tooHigh, sum(fits), sum(tooHigh), target)
			}
			if sum(price).GreaterThan(target) {
				tooHigh = price
			} else {
				fits = price
			}
		}
		return &fits
	}
	return &vehicle.PriceLimits{
		Low:    search(func(s moneyRange) decimal.Decimal { return s.high }),
		Likely: search(func(s moneyRange) decimal.Decimal { return s.amount }),
		High:   search(func(s moneyRange) decimal.Decimal { return s.low }),
	}
}

// between returns the price between two prices at which a line through their totals
// meets the target.
func between(low, high int64, atLow, atHigh, target decimal.Decimal) int64 {
	price := low + target.Sub(atLow).Mul(decimal.NewFromInt(high-low)).DivRound(atHigh.Sub(atLow), 0).IntPart()
	return min(max(price, low+1), high-1)
}
