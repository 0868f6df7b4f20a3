package terms

import (
	"encoding/json"
	"errors"

	"ushuru/api/problem"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/money"
)

// ErrYenRateMissing means a price in yen without the rate of yen.
var ErrYenRateMissing = errors.New("described: no rate of yen")

// Bounds of a rate in yen for a dollar. Since 1986 it was between 75 and 200.
const (
	minJPY = 50
	maxJPY = 500
)

// ParseYenRate parses the field jpyPerUSD; it is nil when the field is absent.
func ParseYenRate(value json.RawMessage) (*money.Number, error) {
	rate, err := parseNumber(value, minJPY, maxJPY)
	if err != nil {
		return nil, problem.Field("jpyPerUSD", "amount", minJPY, maxJPY).WithCause(err)
	}
	return rate, nil
}

// InUSD returns a price in dollars, which a request gives in dollars or in yen by a field;
// nil when it gives neither. The one in dollars outranks the other.
func InUSD(usd, jpy json.RawMessage, field string, jpyPerUSD *money.Number) (json.RawMessage, error) {
	if !jsonobject.IsAbsent(usd) {
		return usd, nil
	}
	if jsonobject.IsAbsent(jpy) {
		return nil, nil
	}
	var yen money.Number
	if err := json.Unmarshal(jpy, &yen); err != nil || !yen.Decimal().IsPositive() {
		const maxYen = MaxPriceUSD * maxJPY
		return nil, problem.Field(field, "positive", maxYen).WithCause(err)
	}
	if jpyPerUSD == nil {
		return nil, ErrYenRateMissing
	}
	const cents = 2
	return json.RawMessage(yen.Decimal().DivRound(jpyPerUSD.Decimal(), cents).String()), nil
}
