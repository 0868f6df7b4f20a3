package cost

import "github.com/shopspring/decimal"

// span is an amount and the least and the most it may be.
type span struct{ low, amount, high decimal.Decimal }

// only is a span of one amount.
func only(amount decimal.Decimal) span { return span{amount, amount, amount} }

// isOne reports whether a span is known to be of one amount, as only makes it.
func (s span) isOne() bool { return s.low == s.amount && s.high == s.amount }

// each applies a function that does not fall to all three.
func (s span) each(f func(decimal.Decimal) decimal.Decimal) span {
	if s.isOne() {
		return only(f(s.amount))
	}
	return span{f(s.low), f(s.amount), f(s.high)}
}

func (s span) plus(t span) span {
	if s.isOne() && t.isOne() {
		return only(s.amount.Add(t.amount))
	}
	return span{s.low.Add(t.low), s.amount.Add(t.amount), s.high.Add(t.high)}
}

func (s span) times(factor decimal.Decimal) span {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return d.Mul(factor) })
}

func (s span) over(divisor decimal.Decimal) span {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return d.Div(divisor) })
}

// atLeast raises what is below a floor.
func (s span) atLeast(floor decimal.Decimal) span {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return decimal.Max(d, floor) })
}

// ordered widens the ends to hold the amount.
func (s span) ordered() span {
	if s.isOne() {
		return s
	}
	return span{decimal.Min(s.low, s.amount, s.high), s.amount, decimal.Max(s.low, s.amount, s.high)}
}

func (s span) isRange() bool { return !s.low.Equal(s.high) }
