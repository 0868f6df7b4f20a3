package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/jobs"
)

// admit lets a request through that begins work, unless its key has asked too
// often or has too many jobs at work. What is answered from the cache costs
// nobody anything and is not counted.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) error {
	if err := s.admitOne(w, r); err != nil {
		return err
	}
	key := exchangeOf(r).key
	limit := key.Limits.Or(s.options.Limits).Jobs
	if limit <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisPatience)
	defer cancel()
	room, err := s.limiter.Room(ctx, key.ID, limit, s.options.Jobs.EndedOf)
	switch {
	case err != nil:
		return errUnavailable.because(err)
	case !room:
		return errTooManyJobs
	}
	return nil
}

// admitBatch is admit for so many listings of a batch.
func (s *Server) admitBatch(w http.ResponseWriter, r *http.Request, rows int) error {
	if err := s.admitOne(w, r); err != nil {
		return err
	}
	key := exchangeOf(r).key
	limit := key.Limits.Or(s.options.Limits).BatchItems
	if limit <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisPatience)
	defer cancel()
	open, err := s.batches.OpenOf(ctx, key.ID)
	switch {
	case err != nil:
		return errUnavailable.because(err)
	case rows > limit:
		return errBatchTooLarge
	case open+rows > limit:
		return errTooManyItems
	}
	return nil
}

// admitOne counts a request. The three RateLimit headers are those of the IETF
// draft that clients know.
func (s *Server) admitOne(w http.ResponseWriter, r *http.Request) error {
	key := exchangeOf(r).key
	limit := key.Limits.Or(s.options.Limits).PerMinute
	if limit <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisPatience)
	defer cancel()
	allowance, err := s.limiter.Take(ctx, key.ID, limit)
	if err != nil {
		return errUnavailable.because(err)
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

// opened counts a job that is at work for the key that asks.
func (s *Server) opened(r *http.Request, job *jobs.Job) error {
	key := exchangeOf(r).key
	if job.State.Ended() || key.Limits.Or(s.options.Limits).Jobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisPatience)
	defer cancel()
	if err := s.limiter.Opened(ctx, key.ID, job.ID); err != nil {
		return errUnavailable.because(err)
	}
	return nil
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
