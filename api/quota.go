package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/respond"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
)

// limits returns the limits of the caller's key.
func (s *Server) limits(r *http.Request) quota.Limits {
	return respond.RecorderOf(r).Key.Limits.Or(s.options.Limits)
}

// rateLimited is the middleware of endpoints whose every request counts
// against the rate of its key. Where a cached result responds, the handler
// calls checkJobLimits instead, because such a request does not count.
func (s *Server) rateLimited(next respond.Handler) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.checkRate(w, r); err != nil {
			return err
		}
		return next(w, r)
	}
}

// checkRate counts a request, once, unless its key has exceeded its requests per
// minute. It sets the RateLimit headers.
func (s *Server) checkRate(w http.ResponseWriter, r *http.Request) error {
	rec, perMinute := respond.RecorderOf(r), s.limits(r).PerMinute
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
	allowance, err := s.options.Limiter.Allow(ctx, rec.Key.ID, perMinute)
	if err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	rec.Counted = true
	setRateLimit(w.Header(), allowance)
	if !allowance.Allowed {
		limited := *errRateLimited
		limited.RetryAfter = max(respond.WholeSeconds(allowance.RetryAfter), time.Second)
		return &limited
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

// checkJobLimits counts a request that needs a job, unless its key has
// exceeded its rate or has too many running jobs.
func (s *Server) checkJobLimits(w http.ResponseWriter, r *http.Request) error {
	if err := s.checkRate(w, r); err != nil {
		return err
	}
	maxJobs := s.limits(r).Jobs
	if maxJobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	free, err := s.options.Limiter.HasCapacity(ctx, respond.RecorderOf(r).Key.ID, maxJobs, s.options.Jobs.ListEnded)
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

// checkBatchLimits counts a request that adds rows to the running batches of
// its key, and what is kept for it, unless the key has exceeded its rate, or would have
// too many rows or bytes.
func (s *Server) checkBatchLimits(w http.ResponseWriter, r *http.Request, rows int, things ...quota.Kept) error {
	if err := s.checkRate(w, r); err != nil {
		return err
	}
	maxRows := s.limits(r).BatchItems
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	active, err := s.options.Batches.CountActiveRows(ctx, respond.RecorderOf(r).Key.ID)
	switch {
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case maxRows > 0 && rows > maxRows:
		return errBatchTooLarge
	case maxRows > 0 && active+rows > maxRows:
		return errTooManyBatchItems
	}
	return s.keep(w, r, room{int64(rows) * resultBytes, int64(active) * resultBytes}, things...)
}

// room is left for results that come later, in bytes.
type room struct{ own, others int64 } // those of a request, and of what runs already

// keep counts what will be kept for a request against the bytes of its key, unless with
// it and the room the key would have more than its limit. It sets the header Key-Bytes.
func (s *Server) keep(w http.ResponseWriter, r *http.Request, left room, things ...quota.Kept) error {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	limit := s.limits(r).Bytes
	account, ok, err := s.options.Bytes.Take(ctx, respond.RecorderOf(r).Key.ID, limit, left.own+left.others, things...)
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
	full := *errTooManyBytes
	full.RetryAfter = max(respond.WholeSeconds(time.Until(account.Free)), time.Minute)
	return &full
}

// withAITokens is the middleware of endpoints that need the AI. It sets the header
// Key-AI-Tokens: what the key had used of its tokens of the day when the request came.
func (s *Server) withAITokens(next respond.Handler) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		limit := s.limits(r).AITokens
		if limit <= 0 || s.options.AIUsage == nil {
			return next(w, r)
		}
		ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
		used, resets, err := s.options.AIUsage(ctx, respond.RecorderOf(r).Key.ID)
		cancel()
		if err != nil {
			return respond.ErrUnavailable.WithCause(err)
		}
		value := fmt.Sprintf("used=%d, limit=%d, reset=%s", used, limit, respond.Seconds(respond.WholeSeconds(time.Until(resets))))
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

// trackJob counts a running job against the limit of its caller's key.
func (s *Server) trackJob(r *http.Request, job *jobs.Job) error {
	if job.State.Ended() || s.limits(r).Jobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	if err := s.options.Limiter.Track(ctx, respond.RecorderOf(r).Key.ID, job.ID); err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	return nil
}
