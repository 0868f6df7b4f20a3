package tra

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/sony/gobreaker/v2"
)

// ThrottleReason says which gate is closed.
type ThrottleReason string

// The gates.
const (
	ThrottleRate    ThrottleReason = "rate"    // the calls per second that all processes share are used up
	ThrottleBreaker ThrottleReason = "breaker" // the authority failed too often in a row; it is left alone for a while
)

// ThrottleError says that a call was not made, because a gate is closed. It is no
// failure of the call: try again after RetryAfter, without counting it.
type ThrottleError struct {
	RetryAfter time.Duration
	Reason     ThrottleReason
}

func (e *ThrottleError) Error() string {
	return fmt.Sprintf("tra: the authority cannot be asked before %s (%s)", e.RetryAfter.Round(time.Millisecond), e.Reason)
}

const keyRate = "tra:rate" // redis_rate puts its own prefix before

// gates stand before every call to the authority.
type throttle struct {
	limiter   *redis_rate.Limiter
	perSecond int // 0: no limit
	breaker   *gobreaker.CircuitBreaker[any]
	pause     time.Duration
	openedAt  atomic.Int64 // Unix nanoseconds
}

func newThrottle(store *Store, o AuthorityOptions) *throttle {
	t := &throttle{limiter: redis_rate.NewLimiter(store.redis), perSecond: o.PerSecond, pause: o.BreakerTimeout}
	t.breaker = gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Name:        "authority",
		Timeout:     o.BreakerTimeout,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= o.BreakerFailures },
		IsExcluded:  func(err error) bool { return err != nil && !isOutage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				t.openedAt.Store(time.Now().UnixNano())
			}
		},
	})
	return t
}

// isOutage says whether an error shows the authority as not there for us: the
// only errors that the breaker counts. An answer that there is no such vehicle
// and a caller who went away say nothing of the kind.
func isOutage(err error) bool {
	kind := kindOf(err)
	return kind == Unavailable || kind == Refused
}

// pass makes a call when the gates are open, and tells the breaker how it went.
func (t *throttle) allow(ctx context.Context, call func() (any, error)) (any, error) {
	result, err := t.breaker.Execute(func() (any, error) {
		if err := t.limit(ctx); err != nil {
			return nil, err
		}
		return call()
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		wait := t.pause - time.Since(time.Unix(0, t.openedAt.Load()))
		return nil, &ThrottleError{RetryAfter: max(wait, time.Millisecond), Reason: ThrottleBreaker}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // one call is out to see whether the authority is back
		return nil, &ThrottleError{RetryAfter: min(t.pause, time.Second), Reason: ThrottleBreaker}
	}
	return result, err
}

func (t *throttle) limit(ctx context.Context) error {
	if t.perSecond <= 0 {
		return nil
	}
	result, err := t.limiter.Allow(ctx, keyRate, redis_rate.PerSecond(t.perSecond))
	if err != nil {
		return fmt.Errorf("tra: rate limit: %w", err)
	}
	if result.Allowed == 0 {
		return &ThrottleError{RetryAfter: max(result.RetryAfter, time.Millisecond), Reason: ThrottleRate}
	}
	return nil
}
