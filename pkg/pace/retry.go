package pace

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Backoff says how often and when a failed call is repeated, with exponential delays and
// jitter. The zero value repeats it at once until the context ends.
type Backoff struct {
	// InitialDelay precedes the first retry. It doubles before every further
	// one, up to MaxDelay; 0 is no bound.
	InitialDelay time.Duration
	MaxDelay     time.Duration
	// MaxAttempts is how often the call is made, the first time included; 0 is
	// no limit.
	MaxAttempts int
	// Timeout is how long after the first call another may begin; 0 is no
	// limit. A context that ends earlier wins.
	Timeout time.Duration
	// IsPermanent reports whether a retry cannot help. Nil means that it always can.
	IsPermanent func(error) bool
	// RetryAfter returns the delay that the called side has asked for with an
	// error; 0 is none. It lengthens the delay, up to MaxDelay. Nil is never.
	RetryAfter func(error) time.Duration
}

// Retry calls f until it succeeds, its error is permanent, or the backoff or ctx
// allows no further attempt. It returns the last error of f. It calls f at least
// once, even when ctx has ended.
func Retry(ctx context.Context, p Backoff, f func() error) error {
	start := time.Now()
	for attempt := 1; ; attempt++ {
		err := f()
		if err == nil || attempt == p.MaxAttempts || p.IsPermanent != nil && p.IsPermanent(err) {
			return err
		}
		delay := p.Delay(attempt, err)
		if p.Timeout > 0 && time.Since(start)+delay > p.Timeout || Sleep(ctx, delay) != nil {
			return err
		}
	}
}

// Delay returns how long to wait after an attempt, counted from 1, that failed
// with err.
func (p Backoff) Delay(attempt int, err error) time.Duration {
	const maxDoublings = 20 // so that an hour does not overflow
	delay := p.InitialDelay << min(attempt-1, maxDoublings)
	if p.RetryAfter != nil {
		delay = max(delay, p.RetryAfter(err))
	}
	if p.MaxDelay > 0 {
		delay = min(delay, p.MaxDelay)
	}
	return Jitter(delay)
}

// RetryAfter returns the delay that a server asks for with the header of that name (RFC 9110,
// section 10.2.3), in seconds or until a date, but at most so much; 0 without one.
func RetryAfter(h http.Header, now time.Time, most time.Duration) time.Duration {
	value, wait := h.Get("Retry-After"), time.Duration(0)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 { // NaN is not
		wait = time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, most))
}

// Jitter returns delay and up to a quarter more, so that callers that failed
// together do not return together.
func Jitter(delay time.Duration) time.Duration {
	const share = 4
	return delay + rand.N(delay/share+1) //nolint:gosec // the spread of delays is not secret
}

// Sleep waits for delay. It returns the error of ctx when that ends first.
func Sleep(ctx context.Context, delay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
