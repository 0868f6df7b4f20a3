package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// sums computes a copy of a calculation with another price or other landing days: its lines have
// amounts and no words.
func sums(b calculation) *calculation {
	b.silent, b.lines, b.missing = true, nil, nil
	b.figures()
	b.bill()
	return &b
}

// onDays returns the sums of the car when it lands on other days.
func (b *calculation) onDays(from, to time.Time) *calculation {
	other := *b
	other.window = windowBetween(from, to)
	return sums(other)
}

// atPrice returns the sums of the car at another price, FOB or C&F.
func (b *calculation) atPrice(price int64, withSea bool) *calculation {
	other, usd := *b, money.NewNumber(decimal.NewFromInt(price))
	if other.car.FOBPriceUSD, other.car.CFPriceUSD = &usd, nil; withSea {
		other.car.FOBPriceUSD, other.car.CFPriceUSD = nil, &usd
	}
	return sums(other)
}

// maxPrice returns the highest prices of the car, FOB and C&F, at which its cost on the road is
// within a target in shillings.
func (b *calculation) maxPrice(target decimal.Decimal) *vehicle.MaxPrice {
	search := func(withSea bool) *vehicle.PriceLimits {
		total := func(price int64) (spread moneyRange, ok bool) {
			c := b.atPrice(price, withSea)
			return c.asRead(c.exact().tzs), len(c.missing) == 0
		}
		return limits(total, target, target.Div(b.rate).IntPart()+1) // a price that is certainly above it
	}
	return &vehicle.MaxPrice{TargetTZS: target.IntPart(), FOB: search(false), CF: search(true)}
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

// monthsAhead is for how many months of landing the cost is computed.
const monthsAhead = 12

// byMonth returns the cost on the road of a car that lands in this month, and in each of
// the next ones.
func (b *calculation) byMonth() *vehicle.ByMonth {
	today := midnight(b.now)
	first := today.AddDate(0, 0, 1-today.Day())
	months := make([]vehicle.MonthCost, monthsAhead)
	newYear, newRules := false, ""
	for i := range months {
		from, to := first.AddDate(0, i, 0), first.AddDate(0, i+1, -1)
		if from.Before(today) {
			from = today
		}
		older, later := !b.knowsAge(to), !b.knowsRules(to)
		months[i] = vehicle.MonthCost{
			Month: from.Format(monthOnly), OnTheRoad: b.onDays(from, to).onTheRoad(),
			Assumed: older || later,
		}
		if newYear = newYear || older; later && newRules == "" {
			newRules = dateOf(from)
		}
	}
	return &vehicle.ByMonth{Months: months, Text: monthsText(newYear, newRules)}
}

// monthOnly is the form of a month: 2027-01.
const monthOnly = "2006-01"

// knowsAge reports whether the excise duty for age on a landing day is known: the car is
// as old as in the authority's answer, or the answer follows known rules on age.
func (b *calculation) knowsAge(day time.Time) bool {
	then, known := b.ageCar(b.asked, b.implied.tax.YOM)
	if known && duty.Age(day, b.yearMade()) == then.Age {
		return true
	}
	_, fit := b.ageRules(then, day)
	return known && fit && b.hasAgeSteps()
}

// monthsText says what is assumed about the months.
func monthsText(newYear bool, newRules string) vehicle.Sentence {
	text := message.SayCoded("by_month/value", nil)
	if newYear {
		text = text.And(say("by_month/age", nil))
	}
	if newRules != "" {
		text = text.And(say("by_month/rules", values{"from": newRules}))
	}
	return text
}
