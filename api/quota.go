package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
)

// room tells whether a key may have more at work, by its limits.
type room func(ctx context.Context, key string, limits keys.Limits) error

// admit lets a request through that begins work, unless its key has asked too
// often or there is no room for the work. What is answered from the cache
// costs nobody anything and is not counted. The three RateLimit headers are
// those of the IETF draft that clients know.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, has room) error {
	key := exchangeOf(r).key
	limits := key.Limits.Or(s.options.Limits)
	ctx, cancel := context.WithTimeout(r.Context(), redisPatience)
	defer cancel()
	if limits.PerMinute <= 0 {
		return has(ctx, key.ID, limits)
	}
	allowance, err := s.options.Limiter.Take(ctx, key.ID, limits.PerMinute)
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
	return has(ctx, key.ID, limits)
}

// roomAlways is for what ends with its answer.
func roomAlways(context.Context, string, keys.Limits) error { return nil }

// roomForJob is there while the key has few jobs at work.
func (s *Server) roomForJob(ctx context.Context, key string, limits keys.Limits) error {
	if limits.Jobs <= 0 {
		return nil
	}
	free, err := s.options.Limiter.Room(ctx, key, limits.Jobs, s.options.Jobs.ListEnded)
	switch {
	case err != nil:
		return errUnavailable.because(err)
	case !free:
		return errTooManyJobs
	}
	return nil
}

// roomForItems is there while the key has few listings in batches at work.
func (s *Server) roomForItems(rows int) room {
	return func(ctx context.Context, key string, limits keys.Limits) error {
		if limits.BatchItems <= 0 {
			return nil
		}
		open, err := s.options.Batches.OpenOf(ctx, key)
		switch {
		case err != nil:
			return errUnavailable.because(err)
		case rows > limits.BatchItems:
			return errBatchTooLarge
		case open+rows > limits.BatchItems:
			return errTooManyItems
		}
		return nil
	}
}

// counted is a handler whose every request counts against its key's rate.
func (s *Server) counted(answer handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.admit(w, r, roomAlways); err != nil {
			return err
		}
		return answer(w, r)
	}
}

// opened counts a job that is at work for the key that asks.
func (s *Server) opened(r *http.Request, job *jobs.Job) error {
	key := exchangeOf(r).key
	if job.State.Ended() || key.Limits.Or(s.options.Limits).Jobs <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisPatience)
	defer cancel()
	if err := s.options.Limiter.Opened(ctx, key.ID, job.ID); err != nil {
		return errUnavailable.because(err)
	}
	return nil
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
