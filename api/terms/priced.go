package terms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Read checks the terms in the body of a request. The request remembers them.
func Read(r *request.Request, body *Request) (err error) {
	var ignored []string
	if r.Terms, ignored, err = body.Parse(time.Now()); err != nil {
		return err
	}
	return r.Ignore(ignored...)
}

// Priced returns an estimate with its cost on the terms of a request, and for a car
// that is bought today: a cached estimate may be of another day. Messages name the
// source of the car.
func Priced(
	costs *cost.Tables, estimate []byte, terms vehicle.Terms, source vehicle.Source, ignored []string,
) ([]byte, error) {
	warned := request.WarnIgnored(ignored)
	now := time.Now()
	if terms.IsZero() && warned == nil && isOfDay(estimate, now) {
		return estimate, nil
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(estimate, &e); err != nil {
		return nil, fmt.Errorf("terms: cached estimate: %w", err)
	}
	e.Car.Source = source
	e = costs.Apply(e, terms, now)
	warnings := jsonobject.Field{Name: "warnings"}
	if e.Warnings = message.Limit(append(e.Warnings, warned...)); len(e.Warnings) > 0 {
		warnings.Value = e.Warnings
	}
	highest := jsonobject.Field{Name: "maxPriceUSD"}
	if e.MaxPrice != nil {
		highest.Value = e.MaxPrice
	}
	return jsonobject.Replace(estimate,
		jsonobject.Field{Name: "summary", Value: e.Summary},
		jsonobject.Field{Name: "driveAway", Value: e.DriveAway}, warnings, highest)
}

// WithWarnings returns a result with more warnings.
func WithWarnings(result []byte, more []vehicle.Warning) ([]byte, error) {
	if len(more) == 0 {
		return result, nil
	}
	var warned struct {
		Warnings []json.RawMessage `json:"warnings"`
	}
	if err := json.Unmarshal(result, &warned); err != nil {
		return nil, fmt.Errorf("terms: result: %w", err)
	}
	all := make([]any, 0, len(warned.Warnings)+len(more))
	for _, w := range warned.Warnings {
		all = append(all, w)
	}
	for _, w := range more {
		all = append(all, w)
	}
	return jsonobject.Replace(result, jsonobject.Field{Name: "warnings", Value: all})
}

// isOfDay reports whether the cost of an estimate, with its summary, was computed on
// a day. Text of a listing cannot look like it, because its quotation marks are escaped.
func isOfDay(estimate []byte, now time.Time) bool {
	return bytes.Contains(estimate, []byte(`"summary":{"onTheRoad"`)) &&
		bytes.Contains(estimate, []byte(`"asOf":"`+now.In(duty.EAT).Format(time.DateOnly)+`"}`))
}
