package tra

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// ThrottleReason says why a call was not made.
type ThrottleReason string

// The reasons.
const (
	ThrottleRate    ThrottleReason = "rate"    // the calls per second of all processes are used up
	ThrottleBreaker ThrottleReason = "breaker" // the breaker is open after too many consecutive outages
	ThrottleRefused ThrottleReason = "refused" // the authority has just refused this process, perhaps for its address
)

// ThrottleError means that a call was not made. It is not a failure of the call:
// the caller should try again after RetryAfter, without using up a retry.
type ThrottleError struct {
	RetryAfter time.Duration
	Reason     ThrottleReason
}

func (e *ThrottleError) Error() string {
	return fmt.Sprintf("tra: no call before %s (%s)", e.RetryAfter.Round(time.Millisecond), e.Reason)
}

// gates stand before every call to the authority.
type throttle struct {
	rate     rateLimit
	breaker  atomic.Pointer[gobreaker.CircuitBreaker[any]] // is replaced by reset
	settings gobreaker.Settings                            // of the breaker
	timeout  time.Duration                                 // how long the breaker stays open
	openedAt atomic.Int64                                  // Unix nanoseconds
	refusal  refusal
}

func newThrottle(store *Store, o AuthorityOptions) *throttle {
	t := &throttle{
		rate:    rateLimit{redis: store.redis, perSecond: o.PerSecond, wait: o.RateWait},
		timeout: o.BreakerTimeout,
	}
	t.settings = gobreaker.Settings{
		Name:        "authority",
		Timeout:     o.BreakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= o.BreakerFailures },
		IsExcluded:  func(err error) bool { return err != nil && !isOutage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				t.openedAt.Store(time.Now().UnixNano())
			}
			if o.OnBreaker != nil {
				o.OnBreaker(to.String())
			}
		},
	}
	t.reset()
	return t
}

// reset closes the breaker and ends the pause after refusals.
func (t *throttle) reset() {
	t.breaker.Store(gobreaker.NewCircuitBreaker[any](t.settings))
	t.refusal.record(false, 0)
}

// isOutage reports whether an error means that the authority is not available.
// The breaker counts only such errors.
func isOutage(err error) bool {
	kind := kindOf(err)
	return kind == Unavailable || kind == Refused
}

// pass makes a call when the gates are open, and tells the breaker how it went.
func (t *throttle) allow(ctx context.Context, call func() (any, error)) (any, error) {
	if wait := t.refusal.remaining(); wait > 0 {
		return nil, &ThrottleError{RetryAfter: wait, Reason: ThrottleRefused}
	}
	result, err := t.breaker.Load().Execute(func() (any, error) {
		if err := t.rate.limit(ctx); err != nil {
			return nil, err
		}
		return call()
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		wait := t.timeout - time.Since(time.Unix(0, t.openedAt.Load()))
		return nil, &ThrottleError{RetryAfter: max(wait, time.Millisecond), Reason: ThrottleBreaker}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // one call tests whether the authority is available again
		return nil, &ThrottleError{RetryAfter: min(t.timeout, time.Second), Reason: ThrottleBreaker}
	}
	return result, err
}
