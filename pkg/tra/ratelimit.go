package tra

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"

	"ushuru/pkg/fair"
	"ushuru/pkg/retry"
)

// redis_rate adds its own prefix to the keys.
const (
	keyRate     = "tra:rate"      // calls of all processes
	keyRateBulk = "tra:rate:bulk" // those of them that are for batches
)

const (
	// Calls for batches may use so many of twenty parts of the rate limit; the rest is
	// for people, so that none of their calls waits behind a batch.
	bulkParts  = 18
	rateParts  = 20
	tokenTTL   = time.Second // how long a token may be held: the limit is per second
	minRetryIn = time.Millisecond
)

// rateLimit limits the calls of all processes per second. It takes as many tokens at
// once from Redis as there are callers, because Redis may be far away.
type rateLimit struct {
	limiter   *redis_rate.Limiter
	perSecond int           // 0 means no limit
	wait      time.Duration // how long a call may wait for a token
	people    tokens
	bulk      tokens
	shares    fair.Rates // of each key, of the calls for people
}

// tokens are those that one class of callers may use.
type tokens struct {
	wanted  atomic.Int64 // callers that wait
	mu      sync.Mutex
	held    int
	until   time.Time // those that are held expire
	refused time.Time // before this time there is none
}

// limit takes one token, of the caller's share and of all, and waits for it as long as
// a call may.
func (r *rateLimit) limit(ctx context.Context) error {
	deadline := time.Now().Add(r.wait)
	takes := []func(context.Context) error{r.takeShare, func(ctx context.Context) error { return r.take(ctx, 1) }}
	for len(takes) > 0 {
		err := takes[0](ctx)
		if err == nil {
			takes = takes[1:]
			continue
		}
		throttled, ok := errors.AsType[*ThrottleError](err)
		if !ok || time.Now().Add(throttled.RetryAfter).After(deadline) {
			return err
		}
		if err := retry.Sleep(ctx, throttled.RetryAfter); err != nil {
			return err
		}
	}
	return nil
}

// takeShare counts a call for a person against what one key may use of the rate.
func (r *rateLimit) takeShare(ctx context.Context) error {
	owner := fair.Owner(ctx)
	if r.perSecond <= 0 || owner == "" || sessionOf(ctx).isBulk() {
		return nil
	}
	if wait := r.shares.Take(owner, r.perSecond, time.Now()); wait > 0 {
		return &ThrottleError{RetryAfter: wait, Reason: ThrottleRate}
	}
	return nil
}

// prepare takes the token for a call that is likely to follow, so that the call does
// not wait for Redis. Without one the call takes it itself.
func (r *rateLimit) prepare(ctx context.Context) { _ = r.take(ctx, 0) }

// take takes tokens from those that are held, and before from Redis when there are
// too few: one for each caller that waits now. use 0 takes none of those held.
func (r *rateLimit) take(ctx context.Context, use int) error {
	if r.perSecond <= 0 {
		return nil
	}
	bulk := sessionOf(ctx).isBulk()
	t := &r.people
	if bulk {
		t = &r.bulk
	}
	t.wanted.Add(1)
	defer t.wanted.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.After(t.until) {
		t.held = 0
	}
	wanted := max(use, int(min(t.wanted.Load(), int64(r.perSecond)))-t.held)
	switch {
	case use > 0 && t.held >= use:
		t.held -= use
		return nil
	case use == 0 && wanted <= 0:
		return nil
	case now.Before(t.refused):
		return &ThrottleError{RetryAfter: t.refused.Sub(now), Reason: ThrottleRate}
	}
	allowed, after, err := r.allow(ctx, bulk, wanted)
	if err != nil {
		return err
	}
	t.held, t.until = t.held+allowed, time.Now().Add(tokenTTL)
	if t.held < use || allowed == 0 {
		t.refused = time.Now().Add(after)
		return &ThrottleError{RetryAfter: after, Reason: ThrottleRate}
	}
	t.held -= use
	return nil
}

// allow takes at most n tokens from Redis. A call for a batch needs one of both
// limits.
func (r *rateLimit) allow(ctx context.Context, bulk bool, n int) (allowed int, after time.Duration, _ error) {
	limits := map[string]redis_rate.Limit{keyRate: redis_rate.PerSecond(r.perSecond)}
	order := []string{keyRate}
	if bulk {
		limits[keyRateBulk] = redis_rate.Limit{
			Rate: r.perSecond * bulkParts, Burst: max(1, r.perSecond*bulkParts/rateParts), Period: rateParts * time.Second,
		}
		order = []string{keyRateBulk, keyRate}
	}
	for _, key := range order {
		result, err := r.limiter.AllowAtMost(ctx, key, limits[key], n)
		if err != nil {
			return 0, 0, fmt.Errorf("tra: rate limit: %w", err)
		}
		if result.Allowed == 0 {
			return 0, max(result.RetryAfter, minRetryIn), nil
		}
		n = result.Allowed
	}
	return n, 0, nil
}
