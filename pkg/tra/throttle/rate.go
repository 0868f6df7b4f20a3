package throttle

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/fair"
	"ushuru/pkg/retry"
)

const (
	// Calls for batches may use so many of twenty parts of the rate limit; the rest is
	// for people, so that none of their calls waits behind a batch.
	bulkParts = 18
	rateParts = 20

	tokenTTL     = time.Second      // how long a token may be held: the limit is per second
	tokenTimeout = 10 * time.Second // of one request for tokens
)

// rateLimit limits the calls of all processes per second. Redis may be far away, so
// that it is asked in the background, each time for as many tokens as there are
// callers: one round trip serves all of them.
type rateLimit struct {
	redis     redis.UniversalClient
	perSecond int           // 0 means no limit
	wait      time.Duration // how long a call may wait for a token
	people    tokens
	bulk      tokens
	shares    fair.Rates // of each key, of the calls for people
}

// tokens are those that one class of callers may use.
type tokens struct {
	mu      sync.Mutex
	held    int
	until   time.Time // those that are held expire
	refused time.Time // before this time there is none
	callers []*caller // that wait, in the order in which they came
	filling bool      // Redis is being asked
}

// caller waits for a token.
type caller struct {
	deadline time.Time
	served   chan error // gets nil with the token
}

// limit takes one token, of the caller's share and of all, and waits for it as long as
// a call may.
func (r *rateLimit) limit(ctx context.Context, bulk bool) error {
	if r.perSecond <= 0 {
		return nil
	}
	deadline := time.Now().Add(r.wait)
	for {
		err := r.takeShare(ctx, bulk)
		throttled, ok := errors.AsType[*Error](err)
		if !ok {
			return r.take(ctx, r.tokensOf(bulk), deadline)
		}
		if time.Now().Add(throttled.RetryAfter).After(deadline) {
			return err
		}
		if err := retry.Sleep(ctx, throttled.RetryAfter); err != nil {
			return err
		}
	}
}

// takeShare counts a call for a person against what one key may use of the rate.
func (r *rateLimit) takeShare(ctx context.Context, bulk bool) error {
	owner := fair.Owner(ctx)
	if owner == "" || bulk {
		return nil
	}
	if wait := r.shares.Take(owner, r.perSecond, time.Now()); wait > 0 {
		return &Error{RetryAfter: wait, Reason: Rate}
	}
	return nil
}

// tokensOf returns the tokens of a caller's class.
func (r *rateLimit) tokensOf(bulk bool) *tokens {
	if bulk {
		return &r.bulk
	}
	return &r.people
}

// take waits for a token until a deadline.
func (r *rateLimit) take(ctx context.Context, t *tokens, deadline time.Time) error {
	c := &caller{deadline, make(chan error, 1)}
	t.mu.Lock()
	t.callers = append(t.callers, c)
	t.serve(time.Now())
	r.startFilling(ctx, t)
	t.mu.Unlock()
	select {
	case err := <-c.served:
		return err
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.callers, c); i >= 0 {
		t.callers = slices.Delete(t.callers, i, i+1)
	} else if <-c.served == nil { // it came at the same moment
		t.held++
		t.serve(time.Now())
	}
	return ctx.Err()
}

// startFilling has Redis asked for tokens until no more are wanted.
func (r *rateLimit) startFilling(ctx context.Context, t *tokens) {
	if t.filling || t.wanted(r.perSecond, time.Now()) <= 0 {
		return
	}
	t.filling = true
	ctx = context.WithoutCancel(ctx) // the tokens are for all callers
	go func() {
		for r.fill(ctx, t) {
		}
	}()
}

// fill asks Redis for tokens once. It returns false when no more are wanted.
func (r *rateLimit) fill(ctx context.Context, t *tokens) (more bool) {
	t.mu.Lock()
	n, pause := t.wanted(r.perSecond, time.Now()), time.Until(t.refused)
	t.filling = n > 0
	t.mu.Unlock()
	if n <= 0 {
		return false
	}
	time.Sleep(pause)
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	allowed, after, err := r.allow(ctx, t == &r.bulk, n)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case err != nil:
		for _, c := range t.callers {
			c.served <- err
		}
		t.callers = nil
	case allowed == 0:
		t.refused = now.Add(after)
	default:
		t.expire(now)
		t.held, t.until = t.held+allowed, now.Add(tokenTTL)
	}
	t.serve(now)
	return true
}

// wanted returns how many tokens are to be asked for, at most those of a second.
func (t *tokens) wanted(perSecond int, now time.Time) int {
	t.expire(now)
	return min(len(t.callers), perSecond) - t.held
}

func (t *tokens) expire(now time.Time) {
	if now.After(t.until) {
		t.held = 0
	}
}

// serve gives the tokens that are held to callers, and refuses those that cannot wait
// until there may be others.
func (t *tokens) serve(now time.Time) {
	t.expire(now)
	n := min(t.held, len(t.callers))
	for _, c := range t.callers[:n] {
		c.served <- nil
	}
	t.held -= n
	t.callers = slices.DeleteFunc(slices.Delete(t.callers, 0, n), func(c *caller) bool {
		refused := t.refused.After(now) && t.refused.After(c.deadline)
		if refused {
			c.served <- &Error{RetryAfter: t.refused.Sub(now), Reason: Rate}
		}
		return refused
	})
}
