// Package throttle stands before every call to the authority: the rate of all processes
// together, of which people and each key have their share, a breaker, and a pause for a
// process that the authority refuses.
package throttle

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

// Reason says why a call was not made.
type Reason string

// The reasons.
const (
	Rate    Reason = "rate"    // the calls per second of all processes are used up
	Breaker Reason = "breaker" // the breaker is open after too many consecutive outages
	Refused Reason = "refused" // the authority has just refused this process, perhaps for its address
)

// Error means that a call was not made. It is not a failure of the call: the caller
// should try again after RetryAfter, without using up a retry.
type Error struct {
	RetryAfter time.Duration
	Reason     Reason
}

func (e *Error) Error() string {
	return fmt.Sprintf("throttle: no call before %s (%s)", e.RetryAfter.Round(time.Millisecond), e.Reason)
}

// Options of a Throttle.
type Options struct {
	Redis           redis.UniversalClient
	PerSecond       int                // maximum calls per second of all processes together; 0 means no limit
	Wait            time.Duration      // how long a call may wait for the rate before it is an Error
	BreakerFailures uint32             // number of consecutive outages that open the breaker
	BreakerTimeout  time.Duration      // how long the breaker stays open, and the longest pause after refusals
	IsOutage        func(error) bool   // whether an error means that the authority is not available
	OnBreaker       func(state string) // if not nil, gets the new state of the breaker
}

// Throttle lets calls pass, or says when they may.
type Throttle struct {
	rate     rateLimit
	breaker  atomic.Pointer[gobreaker.CircuitBreaker[any]] // is replaced by Reset
	settings gobreaker.Settings                            // of the breaker
	timeout  time.Duration                                 // how long the breaker stays open
	openedAt atomic.Int64                                  // Unix nanoseconds
	refusal  refusal
}

// New returns a Throttle with a closed breaker.
func New(o Options) *Throttle {
	t := &Throttle{
		rate:    rateLimit{redis: o.Redis, perSecond: o.PerSecond, wait: o.Wait},
		timeout: o.BreakerTimeout,
	}
	t.settings = gobreaker.Settings{
		Name:        "authority",
		Timeout:     o.BreakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= o.BreakerFailures },
		IsExcluded:  func(err error) bool { return err != nil && !o.IsOutage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				t.openedAt.Store(time.Now().UnixNano())
			}
			if o.OnBreaker != nil {
				o.OnBreaker(to.String())
			}
		},
	}
	t.Reset()
	return t
}

// Reset closes the breaker and ends the pause after refusals.
func (t *Throttle) Reset() {
	t.breaker.Store(gobreaker.NewCircuitBreaker[any](t.settings))
	t.refusal.record(false, 0)
}

// State returns that of the breaker.
func (t *Throttle) State() gobreaker.State { return t.breaker.Load().State() }

// SetPart sets which part of the rate for people one key may use while others wait.
func (t *Throttle) SetPart(part float64) { t.rate.shares.SetPart(part) }

// Record counts whether the authority refused a call. It returns the pause that begins
// with it; 0 when none does.
func (t *Throttle) Record(refused bool) time.Duration { return t.refusal.record(refused, t.timeout) }

// Allow makes a call, of a batch or for a person, unless it must wait, which is an *Error.
// The breaker counts how it ends.
func (t *Throttle) Allow(ctx context.Context, bulk bool, call func() (any, error)) (any, error) {
	if wait := t.refusal.remaining(); wait > 0 {
		return nil, &Error{RetryAfter: wait, Reason: Refused}
	}
	result, err := t.breaker.Load().Execute(func() (any, error) {
		if err := t.rate.limit(ctx, bulk); err != nil {
			return nil, err
		}
		return call()
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		wait := t.timeout - time.Since(time.Unix(0, t.openedAt.Load()))
		return nil, &Error{RetryAfter: max(wait, time.Millisecond), Reason: Breaker}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // one call tests whether the authority is available again
		return nil, &Error{RetryAfter: min(t.timeout, time.Second), Reason: Breaker}
	}
	return result, err
}
