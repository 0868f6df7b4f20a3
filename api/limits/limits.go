// Package limits holds callers to the limits of their keys: requests a minute, running
// jobs, rows of batches, bytes that are stored, tokens of the AI, and the places of one
// process for what needs much memory or a processor for long.
package limits

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/respond"
	"ushuru/pkg/batch"
	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
)

// Options are the parts and settings of Limits.
type Options struct {
	Limiter *quota.Limiter
	Bytes   *quota.Bytes
	Jobs    *jobs.Store
	Batches *batch.Store
	// AIUsage returns how many tokens of the AI a key has used today, and when the day
	// ends. Nil knows of none.
	AIUsage func(ctx context.Context, key string) (used int64, resets time.Time, err error)
	// Limits apply to keys without limits of their own. 0 means no limit.
	Limits quota.Limits
	// WaitMax is the longest time that a request waits for a result.
	WaitMax time.Duration
}

// Limits are the limits of all keys at one API process.
type Limits struct {
	options    Options
	bodies     *fair.Places // for large ones
	exports    *fair.Places
	processors *fair.Places // for long computations
}

// New returns the limits of one API process.
func New(options Options) *Limits {
	return &Limits{
		options: options, bodies: fair.NewPlaces(maxLargeBodies), exports: fair.NewPlaces(maxExports),
		processors: newProcessors(),
	}
}

// of returns the limits of the caller's key.
func (l *Limits) of(r *http.Request) quota.Limits {
	return respond.RecorderOf(r).Key.Limits.Or(l.options.Limits)
}

// RateLimited is the middleware of endpoints whose every request counts
// against the rate of its key. Where a cached result responds, the handler
// calls CheckJobs instead, because such a request does not count.
func (l *Limits) RateLimited(next respond.Handler) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := l.CheckRate(w, r); err != nil {
			return err
		}
		return next(w, r)
	}
}

// CheckRate counts a request, once, unless its key has exceeded its requests per
// minute. It sets the RateLimit headers.
func (l *Limits) CheckRate(w http.ResponseWriter, r *http.Request) error {
	rec, perMinute := respond.RecorderOf(r), l.of(r).PerMinute
	if perMinute <= 0 || rec.Counted {
		return nil
	}
	if rec.Admit != nil {
		if err := rec.Admit(r.Context()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	allowance, err := l.options.Limiter.Allow(ctx, rec.Key.ID, perMinute)
	if err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	rec.Counted = true
	setRateLimit(w.Header(), allowance)
	if !allowance.Allowed {
		return errRateLimited.After(max(respond.WholeSeconds(allowance.RetryAfter), time.Second))
	}
	return nil
}

// setRateLimit says what a key has left: in the two headers of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10), and in the three of its early versions.
func setRateLimit(h http.Header, a quota.Allowance) {
	reset := respond.Seconds(respond.WholeSeconds(a.Reset))
	h.Set("Ratelimit-Policy", fmt.Sprintf(`"minute";q=%d;w=60`, a.Limit))
	h.Set("Ratelimit", fmt.Sprintf(`"minute";r=%d;t=%s`, a.Remaining, reset))
	h.Set("Ratelimit-Limit", strconv.Itoa(a.Limit))
	h.Set("Ratelimit-Remaining", strconv.Itoa(a.Remaining))
	h.Set("Ratelimit-Reset", reset)
}

// CheckJobs counts a request that needs a job, unless its key has
// exceeded its rate or has too many running jobs.
func (l *Limits) CheckJobs(w http.ResponseWriter, r *http.Request) error {
	if err := l.CheckRate(w, r); err != nil {
		return err
	}
	maxJobs := l.of(r).Jobs
	if maxJobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	free, err := l.options.Limiter.HasCapacity(ctx, respond.RecorderOf(r).Key.ID, maxJobs, l.options.Jobs.ListEnded)
	switch {
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case !free:
		return errTooManyJobs
	}
	return nil
}

// resultBytes is what the result of a row takes, with the sources of its values: room
// for those of all rows of a key that wait or run is left when a batch is created.
const resultBytes = 4 << 10

// CheckBatch counts a request that adds rows to the running batches of
// its key, and what is kept for it, unless the key has exceeded its rate, or would have
// too many rows or bytes.
func (l *Limits) CheckBatch(w http.ResponseWriter, r *http.Request, rows int, things ...quota.Kept) error {
	if err := l.CheckRate(w, r); err != nil {
		return err
	}
	maxRows := l.of(r).BatchItems
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	active, err := l.options.Batches.CountActiveRows(ctx, respond.RecorderOf(r).Key.ID)
	switch {
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case maxRows > 0 && rows > maxRows:
		return errBatchTooLarge
	case maxRows > 0 && active+rows > maxRows:
		return errTooManyBatchItems
	}
	return l.keep(w, r, room{int64(rows) * resultBytes, int64(active) * resultBytes}, things...)
}

// room is left for results that come later, in bytes.
type room struct{ own, others int64 } // those of a request, and of what runs already

// Keep counts what will be kept for a request against the bytes of its key, unless with
// it the key would have more than its limit. It sets the header Key-Bytes.
func (l *Limits) Keep(w http.ResponseWriter, r *http.Request, things ...quota.Kept) error {
	return l.keep(w, r, room{}, things...)
}

// keep is Keep for a request that also leaves room.
func (l *Limits) keep(w http.ResponseWriter, r *http.Request, left room, things ...quota.Kept) error {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	limit := l.of(r).Bytes
	account, ok, err := l.options.Bytes.Take(ctx, respond.RecorderOf(r).Key.ID, limit, left.own+left.others, things...)
	if err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	value := fmt.Sprintf("used=%d", account.Used)
	if limit > 0 {
		value += fmt.Sprintf(", limit=%d", limit)
	}
	w.Header().Set("Key-Bytes", value)
	if ok {
		return nil
	}
	for _, kept := range things {
		left.own += kept.Size
	}
	if left.own > limit {
		return errTooLargeForKey
	}
	return errTooManyBytes.After(max(respond.WholeSeconds(time.Until(account.Free)), time.Minute))
}

// WithAITokens is the middleware of endpoints that need the AI. It sets the header
// Key-AI-Tokens: what the key had used of its tokens of the day when the request came.
func (l *Limits) WithAITokens(next respond.Handler) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		limit := l.of(r).AITokens
		if limit <= 0 || l.options.AIUsage == nil {
			return next(w, r)
		}
		ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
		used, resets, err := l.options.AIUsage(ctx, respond.RecorderOf(r).Key.ID)
		cancel()
		if err != nil {
			return respond.ErrUnavailable.WithCause(err)
		}
		left := respond.WholeSeconds(time.Until(resets))
		value := fmt.Sprintf("used=%d, limit=%d, reset=%s", used, limit, respond.Seconds(left))
		switch {
		case used*100 >= limit*80:
			value += ", warning=80"
		case used*100 >= limit*50:
			value += ", warning=50"
		}
		w.Header().Set("Key-Ai-Tokens", value)
		return next(w, r)
	}
}

// Track counts a running job against the limit of its caller's key.
func (l *Limits) Track(r *http.Request, job *jobs.Job) error {
	if job.State.Ended() || l.of(r).Jobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	if err := l.options.Limiter.Track(ctx, respond.RecorderOf(r).Key.ID, job.ID); err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	return nil
}

// Forget ends the count of what was kept for a key under a name, because it is not kept.
func (l *Limits) Forget(ctx context.Context, owner, name string) error {
	return l.options.Bytes.Forget(ctx, owner, name)
}
