package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
)

// room tells whether a key may have more at work, by its limits.
type room func(ctx context.Context, key string, limits quota.Limits) error

// checkLimits lets a request through that begins work, unless its key has asked too
// often or there is no room for the work. What is answered from the cache
// costs nobody anything and is not counted. The three RateLimit headers are
// those of the IETF draft that clients know.
func (s *Server) checkLimits(w http.ResponseWriter, r *http.Request, has room) error {
	key := recorderOf(r).key
	limits := key.Limits.Or(s.options.Limits)
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	if limits.PerMinute <= 0 {
		return has(ctx, key.ID, limits)
	}
	allowance, err := s.options.Limiter.Allow(ctx, key.ID, limits.PerMinute)
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
	return has(ctx, key.ID, limits)
}

// noQuota is for what ends with its answer.
func noQuota(context.Context, string, quota.Limits) error { return nil }

// jobQuota is there while the key has few jobs at work.
func (s *Server) jobQuota(ctx context.Context, key string, limits quota.Limits) error {
	if limits.Jobs <= 0 {
		return nil
	}
	free, err := s.options.Limiter.HasCapacity(ctx, key, limits.Jobs, s.options.Jobs.ListEnded)
	switch {
	case err != nil:
		return errUnavailable.withCause(err)
	case !free:
		return errTooManyJobs
	}
	return nil
}

// batchQuota is there while the key has few listings in batches at work.
func (s *Server) batchQuota(rows int) room {
	return func(ctx context.Context, key string, limits quota.Limits) error {
		if limits.BatchItems <= 0 {
			return nil
		}
		open, err := s.options.Batches.CountActiveRows(ctx, key)
		switch {
		case err != nil:
			return errUnavailable.withCause(err)
		case rows > limits.BatchItems:
			return errBatchTooLarge
		case open+rows > limits.BatchItems:
			return errTooManyBatchItems
		}
		return nil
	}
}

// rateLimited is a handler whose every request counts against its key's rate.
func (s *Server) rateLimited(answer handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.checkLimits(w, r, noQuota); err != nil {
			return err
		}
		return answer(w, r)
	}
}

// trackJob counts a job that is at work for the key that asks.
func (s *Server) trackJob(r *http.Request, job *jobs.Job) error {
	key := recorderOf(r).key
	if job.State.Ended() || key.Limits.Or(s.options.Limits).Jobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	if err := s.options.Limiter.Track(ctx, key.ID, job.ID); err != nil {
		return errUnavailable.withCause(err)
	}
	return nil
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
