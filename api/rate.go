package api

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

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
	if isAbsent(value) {
		return decimal.Zero, nil
	}
	var rate money.Number
	err := json.Unmarshal(value, &rate)
	if err != nil || !isRate(rate.Decimal()) {
		return decimal.Zero, errRateInvalid
	}
	return rate.Decimal(), nil
}

// isRate reports whether a rate is within the bounds.
func isRate(rate decimal.Decimal) bool {
	return !rate.LessThan(decimal.NewFromInt(minRate)) && !rate.GreaterThan(decimal.NewFromInt(maxRate))
}

// repriced returns an estimate with its drive-away cost at another exchange
// rate than that of the cached estimate. A zero rate changes nothing. Messages
// name the source of the car.
func (s *Server) repriced(estimate []byte, rate decimal.Decimal, source vehicle.Source) ([]byte, error) {
	if rate.IsZero() {
		return estimate, nil
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(estimate, &e); err != nil {
		return nil, fmt.Errorf("api: cached estimate: %w", err)
	}
	e.Car.Source = source
	e = s.options.Costs.Apply(e, rate, time.Now())
	e.Warnings = message.Limit(e.Warnings)
	warnings := field{"warnings", nil}
	if len(e.Warnings) > 0 {
		warnings.value = e.Warnings
	}
	return replaceFields(estimate, field{"driveAway", e.DriveAway}, warnings)
}
