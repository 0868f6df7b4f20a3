package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
)

// limits returns the limits of the caller's key.
func (s *Server) limits(r *http.Request) quota.Limits {
	return recorderOf(r).key.Limits.Or(s.options.Limits)
}

// rateLimited is the middleware of endpoints whose every request counts
// against the rate of its key. Where a cached result responds, the handler
// calls checkJobLimits instead, because such a request does not count.
func (s *Server) rateLimited(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.checkRate(w, r); err != nil {
			return err
		}
		return next(w, r)
	}
}

// checkRate counts a request, unless its key has exceeded its requests per
// minute. It sets the three RateLimit headers of the IETF draft.
func (s *Server) checkRate(w http.ResponseWriter, r *http.Request) error {
	perMinute := s.limits(r).PerMinute
	if perMinute <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	allowance, err := s.options.Limiter.Allow(ctx, recorderOf(r).key.ID, perMinute)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	h := w.Header()
	h.Set("Ratelimit-Limit", strconv.Itoa(allowance.Limit))
	h.Set("Ratelimit-Remaining", strconv.Itoa(allowance.Remaining))
	h.Set("Ratelimit-Reset", seconds(wholeSeconds(allowance.Reset)))
	if !allowance.Allowed {
		limited := *errRateLimited
		limited.retryAfter = max(wholeSeconds(allowance.RetryAfter), time.Second)
		return &limited
	}
	return nil
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
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	free, err := s.options.Limiter.HasCapacity(ctx, recorderOf(r).key.ID, maxJobs, s.options.Jobs.ListEnded)
	switch {
	case err != nil:
		return errUnavailable.withCause(err)
	case !free:
		return errTooManyJobs
	}
	return nil
}

// checkBatchLimits counts a request that adds rows to the running batches of
// its key, unless the key has exceeded its rate or would have too many rows.
func (s *Server) checkBatchLimits(w http.ResponseWriter, r *http.Request, rows int) error {
	if err := s.checkRate(w, r); err != nil {
		return err
	}
	maxRows := s.limits(r).BatchItems
	if maxRows <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	active, err := s.options.Batches.CountActiveRows(ctx, recorderOf(r).key.ID)
	switch {
	case err != nil:
		return errUnavailable.withCause(err)
	case rows > maxRows:
		return errBatchTooLarge
	case active+rows > maxRows:
		return errTooManyBatchItems
	}
	return nil
}

// trackJob counts a running job against the limit of its caller's key.
func (s *Server) trackJob(r *http.Request, job *jobs.Job) error {
	if job.State.Ended() || s.limits(r).Jobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	if err := s.options.Limiter.Track(ctx, recorderOf(r).key.ID, job.ID); err != nil {
		return errUnavailable.withCause(err)
	}
	return nil
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
