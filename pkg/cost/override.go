package cost

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Factors are what the fee of a line was multiplied by on paid bills: the middle one, and
// the bounds of most.
type Factors struct {
	Low, Middle, High decimal.Decimal
	Source            string
	Date              string // of the last bill: 2026-11
}

// InForce returns the number of the fee of a line that is in force for a country on a day;
// false for none, and for a line that is no fee of the tables.
func (t *Tables) InForce(code, country string, day time.Time) (number int, ok bool) {
	l, ok := t.table(code)
	if !ok {
		return 0, false
	}
	f, _ := l.inForce(dateOf(day), country)
	if f == nil {
		return 0, false
	}
	return slices.IndexFunc(l.Fees, func(g fee) bool {
		return g.From == f.From && slices.Equal(g.Only, f.Only) && slices.Equal(g.Except, f.Except)
	}), true
}

// Override returns an operator's file in which fees are multiplied, by the code of their
// line and their number in it. The other fees of such a line stay.
func (t *Tables) Override(factors map[string]map[int]Factors) ([]byte, error) {
	lines := []line{}
	for _, l := range t.lines {
		if len(factors[l.Code]) == 0 {
			continue
		}
		l.Fees = slices.Clone(l.Fees)
		for number, by := range factors[l.Code] {
			f := &l.Fees[number]
			amount := f.Amount
			scaled := func(factor decimal.Decimal) price {
				const places = 4
				return price{amount.Value.Mul(factor).Round(places), amount.Unit}
			}
			low, high := scaled(by.Low), scaled(by.High)
			f.Amount, f.Low, f.High, f.VATInHigh = scaled(by.Middle), &low, &high, decimal.Zero
			f.Source, f.Date, f.Remark = by.Source, by.Date, ""
		}
		lines = append(lines, l)
	}
	data, err := json.MarshalIndent(map[string]any{"lines": lines}, "", "  ")
	if err != nil {
		return nil, err
	}
	_, err = Parse(data)
	return data, err
}
