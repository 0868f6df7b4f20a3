package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
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

// read checks the terms of a request and records them.
func (req *termsRequest) read(r *http.Request) (vehicle.Terms, error) {
	terms, ignored, err := req.parse(time.Now())
	if err != nil {
		return terms, err
	}
	rec := recorderOf(r)
	rec.terms, rec.ignored = terms, append(rec.ignored, ignored...)
	return terms, nil
}

// identity returns what makes a request with terms different from others, for an
// Idempotency-Key.
func identity(terms vehicle.Terms, input ...any) []any {
	input = append(input, terms.Rate)
	if terms.Landing != nil || terms.Costs != nil {
		input = append(input, terms.Landing, terms.Costs)
	}
	if terms.Target != nil {
		input = append(input, terms.Target)
	}
	return input
}

// priced returns an estimate with its cost on the terms of a request, and for a car
// that is bought today: a cached estimate may be of another day. Messages name the
// source of the car.
func (s *Server) priced(estimate []byte, terms vehicle.Terms, source vehicle.Source, ignored []string) ([]byte, error) {
	warned := ignoredWarning(ignored)
	now := time.Now()
	if terms.IsZero() && warned == nil && isOfDay(estimate, now) {
		return estimate, nil
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(estimate, &e); err != nil {
		return nil, fmt.Errorf("api: cached estimate: %w", err)
	}
	e.Car.Source = source
	e = s.options.Costs.Apply(e, terms, now)
	warnings := field{"warnings", nil}
	if e.Warnings = message.Limit(append(e.Warnings, warned...)); len(e.Warnings) > 0 {
		warnings.value = e.Warnings
	}
	highest := field{"maxPriceUSD", nil}
	if e.MaxPrice != nil {
		highest.value = e.MaxPrice
	}
	return replaceFields(estimate, field{"summary", e.Summary}, field{"driveAway", e.DriveAway}, warnings, highest)
}

// withWarnings returns a result with more warnings.
func withWarnings(result []byte, more []vehicle.Warning) ([]byte, error) {
	if len(more) == 0 {
		return result, nil
	}
	var warned struct {
		Warnings []json.RawMessage `json:"warnings"`
	}
	if err := json.Unmarshal(result, &warned); err != nil {
		return nil, fmt.Errorf("api: result: %w", err)
	}
	all := make([]any, 0, len(warned.Warnings)+len(more))
	for _, w := range warned.Warnings {
		all = append(all, w)
	}
	for _, w := range more {
		all = append(all, w)
	}
	return replaceFields(result, field{"warnings", all})
}

// isOfDay reports whether the cost of an estimate, with its summary, was computed on
// a day. Text of a listing cannot look like it, because its quotation marks are escaped.
func isOfDay(estimate []byte, now time.Time) bool {
	return bytes.Contains(estimate, []byte(`"summary":{"onTheRoad"`)) &&
		bytes.Contains(estimate, []byte(`"asOf":"`+now.In(duty.EAT).Format(time.DateOnly)+`"}`))
}
