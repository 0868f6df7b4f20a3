package cost

import (
	"slices"

	"ushuru/pkg/vehicle"

	"github.com/shopspring/decimal"
)

// facts are the quantities that the prices of a table refer to: cubic metres and
// amounts in USD. The rate is the number of shillings per dollar.
type facts struct {
	m3, cf, cif, duty, taxes moneyRange
	rate                     decimal.Decimal
}

// inForce returns the fee of a line on a day for a country of origin. It is
// nil when none is charged; gap reports that the table does not cover that day.
func (l line) inForce(day, country string) (f *fee, gap bool) {
	gap = len(l.Fees) > 0
	for i := range l.Fees {
		f := &l.Fees[i]
		if f.From != "" && day < f.From || f.Until != "" && f.Until < day {
			continue
		}
		gap = false
		if (len(f.Only) == 0 || f.Only.has(country)) && !f.Except.has(country) {
			return f, false
		}
	}
	return nil, gap
}

// prices returns the amount, the lower and the upper bound.
func (f fee) prices() [3]price {
	prices := [3]price{f.Amount, f.Amount, f.Amount}
	if f.Low != nil {
		prices[1] = *f.Low
	}
	if f.High != nil {
		prices[2] = *f.High
	}
	return prices
}

// byVolume reports whether the fee is charged by cubic metres.
func (f fee) byVolume() bool {
	prices := f.prices()
	return slices.ContainsFunc(prices[:], func(p price) bool { return p.Unit == perM3 })
}

// charge returns the exact fee in both currencies.
func (f fee) charge(by facts) both {
	prices := f.prices()
	sum := prices[0].count(by)
	if f.Low != nil || f.High != nil {
		low, high := prices[1].count(by), prices[2].count(by)
		sum.usd = moneyRange{low.usd.low, sum.usd.amount, high.usd.high}
		sum.tzs = moneyRange{low.tzs.low, sum.tzs.amount, high.tzs.high}
	}
	if f.Clamp != nil && by.m3.amount.IsPositive() {
		clamped := f.Clamp.of(by).times(f.Amount.Value)
		sum.usd = moneyRange{decimal.Min(sum.usd.low, clamped.low), sum.usd.amount, decimal.Max(sum.usd.high, clamped.high)}
		sum.tzs = sum.usd.times(by.rate)
	}
	if f.Least != nil {
		least := f.Least.count(by)
		sum = both{sum.usd.atLeast(least.usd.amount), sum.tzs.atLeast(least.tzs.amount)}
	}
	one := decimal.NewFromInt(1)
	if with := one.Add(f.VAT); f.VAT.IsPositive() {
		sum = sum.times(with)
	}
	sum = both{sum.usd.ordered(), sum.tzs.ordered()}
	if with := one.Add(f.VATInHigh); f.VATInHigh.IsPositive() {
		sum.usd.high, sum.tzs.high = sum.usd.high.Mul(with), sum.tzs.high.Mul(with)
	}
	return sum
}

// of returns the CIF, limited to the bounds for its volume.
func (c clamp) of(by facts) moneyRange {
	within := func(cif, m3 decimal.Decimal) decimal.Decimal {
		return decimal.Min(decimal.Max(cif, m3.Mul(c.Low)), m3.Mul(c.High))
	}
	return moneyRange{within(by.cif.low, by.m3.low), within(by.cif.amount, by.m3.amount), within(by.cif.high, by.m3.high)}
}

// both is an amount in both currencies.
type both struct{ usd, tzs moneyRange }

// bothOf returns the amount of a line.
func bothOf(l vehicle.CostLine) both {
	return both{
		moneyRange{l.LowUSD.Decimal(), l.AmountUSD.Decimal(), l.HighUSD.Decimal()},
		moneyRange{l.LowTZS.Decimal(), l.AmountTZS.Decimal(), l.HighTZS.Decimal()},
	}
}

func (s both) plus(t both) both { return both{s.usd.plus(t.usd), s.tzs.plus(t.tzs)} }

func (s both) times(factor decimal.Decimal) both {
	return both{s.usd.times(factor), s.tzs.times(factor)}
}

// count multiplies the price by its quantity. The unit says which currency is
// exact; the other is converted.
func (p price) count(by facts) both {
	var usd moneyRange
	switch p.Unit {
	case perCarTZS:
		tzs := only(p.Value)
		return both{tzs.over(by.rate), tzs}
	case perM3:
		usd = by.m3.times(p.Value)
	case ofCF:
		usd = by.cf.times(p.Value)
	case ofCIF:
		usd = by.cif.times(p.Value)
	case ofDuty:
		usd = by.duty.times(p.Value)
	case ofTaxes:
		usd = by.taxes.times(p.Value)
	case perCarUSD:
		usd = only(p.Value)
	}
	return both{usd, usd.times(by.rate)}
}

// moneyRange is an amount with its lower and upper bound.
type moneyRange struct{ low, amount, high decimal.Decimal }

// only returns the range of a single amount.
func only(amount decimal.Decimal) moneyRange { return moneyRange{amount, amount, amount} }

// isOne reports whether a range was made by only.
func (s moneyRange) isOne() bool { return s.low == s.amount && s.high == s.amount }

// each applies a non-decreasing function to all three amounts.
func (s moneyRange) each(f func(decimal.Decimal) decimal.Decimal) moneyRange {
	if s.isOne() {
		return only(f(s.amount))
	}
	return moneyRange{f(s.low), f(s.amount), f(s.high)}
}

func (s moneyRange) plus(t moneyRange) moneyRange {
	if s.isOne() && t.isOne() {
		return only(s.amount.Add(t.amount))
	}
	return moneyRange{s.low.Add(t.low), s.amount.Add(t.amount), s.high.Add(t.high)}
}

func (s moneyRange) times(factor decimal.Decimal) moneyRange {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return d.Mul(factor) })
}

func (s moneyRange) over(divisor decimal.Decimal) moneyRange {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return d.Div(divisor) })
}

// atLeast raises amounts below a floor to it.
func (s moneyRange) atLeast(floor decimal.Decimal) moneyRange {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return decimal.Max(d, floor) })
}

// widened returns the range with bounds that include another.
func (s moneyRange) widened(t moneyRange) moneyRange {
	return moneyRange{decimal.Min(s.low, t.low), s.amount, decimal.Max(s.high, t.high)}
}

// ordered widens the bounds to include the amount.
func (s moneyRange) ordered() moneyRange {
	if s.isOne() {
		return s
	}
	return moneyRange{decimal.Min(s.low, s.amount, s.high), s.amount, decimal.Max(s.low, s.amount, s.high)}
}

func (s moneyRange) isRange() bool { return !s.low.Equal(s.high) }
