package terms

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"ushuru/api/problem"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/money"
)

// ErrRateInvalid rejects an exchange rate.
var ErrRateInvalid = problem.BadRequest("rate_invalid").Of("rate")

// Bounds of an exchange rate in shillings for a dollar. Since 2010 it was
// between about 1,500 and 2,800; a rate beyond the bounds is one of another
// currency.
const (
	minRate = 500
	maxRate = 10_000
)

// parseRate parses the optional exchange rate of a request. It is zero when
// there is none.
func parseRate(value json.RawMessage) (decimal.Decimal, error) {
	if jsonobject.IsAbsent(value) {
		return decimal.Zero, nil
	}
	var rate money.Number
	err := json.Unmarshal(value, &rate)
	if err != nil || !isRate(rate.Decimal()) {
		return decimal.Zero, ErrRateInvalid
	}
	return rate.Decimal(), nil
}

// isRate reports whether a rate is within the bounds.
func isRate(rate decimal.Decimal) bool {
	return !rate.LessThan(decimal.NewFromInt(minRate)) && !rate.GreaterThan(decimal.NewFromInt(maxRate))
}
