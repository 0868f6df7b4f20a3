package cost

import "github.com/shopspring/decimal"

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
