package tra

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
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
func (a *Authority) calculation(v Vehicle) func(context.Context) (calculation, time.Duration, error) {
	attempts := 0
	return func(ctx context.Context) (calculation, time.Duration, error) {
		tax, warnings, err := a.client.Details(ctx, v)
		if err != nil {
			return calculation{}, 0, err
		}
		reason := a.store.implausible(tax, a.store.options.Now())
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

// implausible returns why the figures of a time cannot be right; "" when they may be.
func (s *Store) implausible(tax vehicle.Tax, at time.Time) string {
	if s.options.Implausible == nil {
		return ""
	}
	return s.options.Implausible(tax, at)
}

// scriptDiscard deletes a value unless it has changed. ARGV: value.
var scriptDiscard = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

// discarded reports whether a cached answer has figures that cannot be right, and
// deletes it: versions of the program that did not check answers have cached them for
// months. When Redis does not answer, it stays until it is read again.
func discarded[T any](ctx context.Context, store *Store, key string, value []byte, s stored[T]) bool {
	cached, ok := any(s.Answer).(calculation)
	if !ok {
		return false
	}
	if at, checked := store.checked.get(key).(time.Time); checked && at.Equal(s.At) {
		return false
	}
	reason := store.implausible(cached.Tax, s.At)
	if reason == "" {
		store.checked.put(key, s.At) // the check takes longer than reading the answer
		return false
	}
	store.options.Log.ErrorContext(ctx, "cached figures of TRA's calculator that cannot be right were deleted",
		"reason", reason, "reference", cached.Tax.ReferenceNumber, "of", s.At)
	_ = scriptDiscard.Run(ctx, store.redis, []string{key}, value).Err()
	return true
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
