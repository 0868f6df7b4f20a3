package tra

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/tra/catalogue"
)

var (
	// errImplausible is the cause of the failure of a call whose figures cannot be
	// right, as long as the call is repeated.
	errImplausible = errors.New("figures that cannot be right")
	// errStaysImplausible is that of the last such call.
	errStaysImplausible = errors.New("figures that cannot be right, and stayed so")
)

// IsImplausible reports whether a call failed because the authority's figures cannot be
// right, also when they were requested again.
func IsImplausible(err error) bool { return errors.Is(err, errStaysImplausible) }

// maxImplausible is how often implausible figures are requested again, with the
// retries of calls as a bound.
const maxImplausible = 2

// calculation returns the function that requests a calculation.
func (a *Authority) calculation(v catalogue.Vehicle) func(context.Context) (calculation, time.Duration, error) {
	attempts := 0
	return func(ctx context.Context) (calculation, time.Duration, error) {
		tax, warnings, err := a.client.Details(ctx, v)
		if err != nil {
			return calculation{}, 0, err
		}
		reason := ""
		if a.store.options.Implausible != nil {
			reason = a.store.options.Implausible(tax, a.store.options.Now())
		}
		if reason == "" {
			return calculation{Tax: tax, Warnings: warnings}, 0, nil
		}
		a.options.Log.ErrorContext(ctx, "TRA's calculator gave figures that cannot be right",
			"reason", reason, "vehicle", v, "reference", tax.ReferenceNumber, "attempt", attempts+1)
		why := errStaysImplausible
		if attempts++; attempts <= min(maxImplausible, a.options.Retries) {
			why = errImplausible
		}
		return calculation{}, 0, &Error{Kind: BadAnswer, Call: callDetails, Status: 200, cause: why}
	}
}

// period returns the year and quarter that a calculation of now is of. A year that is
// neither this one nor next to it is no period, and returns 0: it would make every
// stored answer stale.
func (c calculation) period(now time.Time) int {
	if year := now.In(localtime.Zone).Year(); c.Tax.Year < year-1 || c.Tax.Year > year+1 {
		return 0
	}
	return periodOf(c.Tax)
}
