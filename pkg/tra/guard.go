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

// GateReason says which gate is closed.
type GateReason string

// The gates.
const (
	GateRate    GateReason = "rate"    // the calls per second that all processes share are used up
	GateBreaker GateReason = "breaker" // the authority failed too often in a row; it is left alone for a while
)

// GateError says that a call was not made, because a gate is closed. It is no
// failure of the call: try again after RetryAfter, without counting it.
type GateError struct {
	RetryAfter time.Duration
	Reason     GateReason
}

func (e *GateError) Error() string {
	return fmt.Sprintf("tra: the authority cannot be asked before %s (%s)", e.RetryAfter.Round(time.Millisecond), e.Reason)
}

const keyRate = "tra:rate" // redis_rate puts its own prefix before

// gates stand before every call to the authority.
type gates struct {
	limiter   *redis_rate.Limiter
	perSecond int // 0: no limit
	breaker   *gobreaker.CircuitBreaker[any]
	pause     time.Duration
	openedAt  atomic.Int64 // Unix nanoseconds
}

func newGates(store *Store, o AuthorityOptions) *gates {
	g := &gates{limiter: redis_rate.NewLimiter(store.redis), perSecond: o.PerSecond, pause: o.BreakerPause}
	g.breaker = gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Name:        "authority",
		Timeout:     o.BreakerPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= o.BreakerFailures },
		IsExcluded:  func(err error) bool { return err != nil && !isOutage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				g.openedAt.Store(time.Now().UnixNano())
			}
		},
	})
	return g
}

// isOutage says whether an error shows the authority as not there for us: the
// only errors that the breaker counts. An answer that there is no such vehicle
// and a caller who went away say nothing of the kind.
func isOutage(err error) bool {
	kind := kindOf(err)
	return kind == Unavailable || kind == Refused
}

// pass makes a call when the gates are open, and tells the breaker how it went.
func (g *gates) pass(ctx context.Context, call func() (any, error)) (any, error) {
	result, err := g.breaker.Execute(func() (any, error) {
		if err := g.limit(ctx); err != nil {
			return nil, err
		}
		return call()
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		wait := g.pause - time.Since(time.Unix(0, g.openedAt.Load()))
		return nil, &GateError{RetryAfter: max(wait, time.Millisecond), Reason: GateBreaker}
	case errors.Is(err, gobreaker.ErrTooManyRequests): // one call is out to see whether the authority is back
		return nil, &GateError{RetryAfter: min(g.pause, time.Second), Reason: GateBreaker}
	}
	return result, err
}

func (g *gates) limit(ctx context.Context) error {
	if g.perSecond <= 0 {
		return nil
	}
	result, err := g.limiter.Allow(ctx, keyRate, redis_rate.PerSecond(g.perSecond))
	if err != nil {
		return fmt.Errorf("tra: rate limit: %w", err)
	}
	if result.Allowed == 0 {
		return &GateError{RetryAfter: max(result.RetryAfter, time.Millisecond), Reason: GateRate}
	}
	return nil
}
