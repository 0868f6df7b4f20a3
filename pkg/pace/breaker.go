package pace

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// OpenError means that a call was not made, because a breaker is open. It is not a failure of
// the call.
type OpenError struct {
	RetryAfter time.Duration
	Refused    bool // the other side has just refused this process
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("pace: no call before %s (refused: %t)", e.RetryAfter.Round(time.Millisecond), e.Refused)
}

// BreakerOptions are those of a Breaker.
type BreakerOptions struct {
	Failures uint32             // number of consecutive outages that open it
	Timeout  time.Duration      // how long it stays open, and the longest pause after refusals
	IsOutage func(error) bool   // whether an error means that the other side is not available
	OnChange func(state string) // if not nil, gets the new state
}

// Breaker stops the calls of one process to a side that is not available, and for a pause
// to one that refuses them, which is an outage of this process and not of that side: another
// process may be answered.
type Breaker struct {
	breaker  atomic.Pointer[gobreaker.CircuitBreaker[any]] // is replaced by Reset
	settings gobreaker.Settings
	openedAt atomic.Int64 // Unix nanoseconds

	mu      sync.Mutex
	pause   time.Duration // the last one; 0 after a call that was not refused
	refused time.Time     // until when calls are paused
}

// NewBreaker returns a closed breaker.
func NewBreaker(o BreakerOptions) *Breaker {
	b := &Breaker{}
	b.settings = gobreaker.Settings{
		Timeout:     o.Timeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= o.Failures },
		IsExcluded:  func(err error) bool { return err != nil && !o.IsOutage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				b.openedAt.Store(time.Now().UnixNano())
			}
			if o.OnChange != nil {
				o.OnChange(to.String())
			}
		},
	}
	b.Reset()
	return b
}

// Reset closes the breaker and ends the pause after refusals.
func (b *Breaker) Reset() {
	b.breaker.Store(gobreaker.NewCircuitBreaker[any](b.settings))
	b.Record(false)
}

// State returns closed, half-open or open, and their numbers 0, 1, 2.
func (b *Breaker) State() gobreaker.State { return b.breaker.Load().State() }

// Call makes a call unless the breaker is open, and counts how it ends.
func (b *Breaker) Call(call func() (any, error)) (any, error) {
	if wait := b.paused(); wait > 0 {
		return nil, &OpenError{RetryAfter: wait, Refused: true}
	}
	result, err := b.breaker.Load().Execute(call)
	switch timeout := b.settings.Timeout; {
	case errors.Is(err, gobreaker.ErrOpenState):
		wait := timeout - time.Since(time.Unix(0, b.openedAt.Load()))
		return nil, &OpenError{RetryAfter: max(wait, time.Millisecond)}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // one call tests whether the other side is available again
		return nil, &OpenError{RetryAfter: min(timeout, time.Second)}
	}
	return result, err
}

// firstPause is the pause after the first refusal. It doubles with each further one, up to
// the timeout of the breaker.
const firstPause = 5 * time.Second

// paused returns for how long no call may be made.
func (b *Breaker) paused() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(time.Until(b.refused), 0)
}

// Record counts whether the other side refused a call. It returns the pause that begins
// with it; 0 when none does. Refusals of calls that were under way together count once.
func (b *Breaker) Record(refused bool) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !refused:
		b.pause, b.refused = 0, time.Time{}
		return 0
	case time.Now().Before(b.refused):
		return 0
	}
	b.pause = min(max(2*b.pause, firstPause), b.settings.Timeout)
	b.refused = time.Now().Add(b.pause)
	return b.pause
}
