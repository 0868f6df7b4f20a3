package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// Bounds of an exchange rate in shillings for a dollar. It stood between about
// 1,500 and 2,800 since 2010; beyond these somebody mixed up the currencies.
const (
	minRate = 500
	maxRate = 10_000
)

var errRateInvalid = &problem{
	status: http.StatusBadRequest, code: "rate_invalid",
	message: fmt.Sprintf(`"rate" must be a number of Tanzanian shillings for one US dollar, from %d to %d.`, minRate, maxRate),
}

// rateOf reads the optional exchange rate of a request; zero when there is
// none.
func rateOf(value json.RawMessage) (decimal.Decimal, error) {
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

// repriced sends an estimate with its drive-away cost at another rate than it is
// kept with. Without a rate it is sent as it is kept. described says that the
// car is not a listing's.
func (s *Server) repriced(rate decimal.Decimal, described bool, answer writer) writer {
	if rate.IsZero() {
		return answer
	}
	return func(w http.ResponseWriter, kept []byte) error {
		var estimate vehicle.Estimate
		if err := json.Unmarshal(kept, &estimate); err != nil {
			return fmt.Errorf("api: kept estimate: %w", err)
		}
		estimate = s.options.Costs.Apply(estimate, rate, time.Now())
		if described {
			drive := estimate.DriveAway.Described()
			estimate.DriveAway, estimate.Warnings = &drive, vehicle.Described(estimate.Warnings)
		}
		warnings := field{"warnings", nil}
		if len(estimate.Warnings) > 0 {
			warnings.value = estimate.Warnings
		}
		changed, err := replaceFields(kept, field{"driveAway", estimate.DriveAway}, warnings)
		if err != nil {
			return err
		}
		return answer(w, changed)
	}
}

// field is one field of a JSON object; without a value it is left out.
type field struct {
	name  string
	value any
}

// replaceFields returns a JSON object with other values of some fields, which
// come last; the other fields stay as they are.
func replaceFields(object []byte, fields ...field) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("api: not an object: %.40q", object)
	}
	changed := []byte{'{'}
	add := func(name, value any) error {
		for i, part := range []any{name, value} {
			data, err := plainjson.Encode(part)
			if err != nil {
				return err
			}
			changed = append(append(changed, data...), ":,"[i])
		}
		return nil
	}
	for decoder.More() {
		var value json.RawMessage
		name, err := decoder.Token()
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			return nil, fmt.Errorf("api: object: %w", err)
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			continue
		}
		if err := add(name, value); err != nil {
			return nil, err
		}
	}
	for _, f := range fields {
		if f.value == nil {
			continue
		}
		if err := add(f.name, f.value); err != nil {
			return nil, err
		}
	}
	changed[len(changed)-1] = '}'
	return changed, nil
}
