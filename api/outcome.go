package api

import (
	"context"
	"errors"
	"net/http"

	"ushuru/api/idempotencykey"
	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
)

// outcome is what responds to a request: a cached result, or the job that computes
// it. The zero value is no outcome.
type outcome struct {
	result   []byte
	cacheKey cache.Key // where the result is
	job      *jobs.Job
	replayed bool // it is stored under the Idempotency-Key

	wasCached bool // the result of the job
}

func (o outcome) isEmpty() bool { return o.result == nil && o.job == nil }

// replay returns the outcome of the same request before under its
// Idempotency-Key. It is empty for a request without a key or an outcome.
func (s *Server) replay(r *http.Request, identity any) (outcome, error) {
	same, err := s.idempotency.Begin(r, identity)
	if err != nil {
		return outcome{}, err
	}
	found, err := s.storedOutcome(r.Context(), same)
	same.SetReplayed(respond.RecorderOf(r), !found.isEmpty())
	return found, err
}

// setOutcome announces the outcome of a request to webhooks, when it was known before, and
// stores it under the Idempotency-Key. It
// returns the outcome to respond with: when the same request was sent twice at
// once, the outcome that was stored first. What is stored names the result or the job,
// and has a hundred bytes.
func (s *Server) setOutcome(w http.ResponseWriter, r *http.Request, kind string, input any, found outcome) (outcome, error) {
	found, err := s.announced(w, r, kind, input, found)
	if err != nil {
		return found, err
	}
	same := idempotencykey.Of(r)
	if same == nil || found.replayed {
		return found, nil
	}
	what, value := "cached", string(found.cacheKey)
	if found.job != nil {
		what, value = "job", found.job.ID
	}
	stored, err := same.SetOutcome(r.Context(), what, value)
	if err != nil || stored == value {
		return found, err
	}
	first, err := s.storedOutcome(r.Context(), same)
	if first.isEmpty() {
		return found, err
	}
	return first, err
}

// storedOutcome loads the outcome of a request. It is empty when its result or its job
// has expired, so that the work is done again.
func (s *Server) storedOutcome(ctx context.Context, same *idempotencykey.Request) (outcome, error) {
	if key, ok := same.Outcome("cached"); ok {
		found, err := s.cachedOutcome(ctx, cache.Key(key))
		found.replayed = !found.isEmpty()
		return found, err
	}
	id, ok := same.Outcome("job")
	if !ok {
		return outcome{}, nil
	}
	job, err := s.job(ctx, id)
	if errors.Is(err, errJobNotFound) {
		return outcome{}, nil
	}
	return outcome{job: job, replayed: true}, err
}
