package await

import (
	"context"
	"errors"
	"net/http"

	"ushuru/api/idempotencykey"
	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
)

// Outcome is what responds to a request: a cached result, or the job that computes
// it. The zero value is no outcome.
type Outcome struct {
	Result   []byte
	cacheKey cache.Key // where the result is
	Job      *jobs.Job
	replayed bool // it is stored under the Idempotency-Key

	WasCached bool // the result of the job
}

// IsEmpty reports whether there is no outcome.
func (o Outcome) IsEmpty() bool { return o.Result == nil && o.Job == nil }

// Replay returns the outcome of the same request before under its
// Idempotency-Key. It is empty for a request without a key or an outcome.
func (k *Work) Replay(r *http.Request, identity any) (Outcome, error) {
	same, err := k.options.Idempotency.Begin(r, identity)
	if err != nil {
		return Outcome{}, err
	}
	found, err := k.storedOutcome(r.Context(), same)
	same.SetReplayed(respond.RecorderOf(r), !found.IsEmpty())
	return found, err
}

// SetOutcome announces the outcome of a request to webhooks, when it was known before, and
// stores it under the Idempotency-Key. It returns the outcome to respond with: when the
// same request was sent twice at once, the outcome that was stored first. What is stored
// names the result or the job, and has a hundred bytes.
func (k *Work) SetOutcome(w http.ResponseWriter, r *http.Request, kind string, input any, found Outcome) (Outcome, error) {
	found, err := k.announced(w, r, kind, input, found)
	if err != nil {
		return found, err
	}
	same := idempotencykey.Of(r)
	if same == nil || found.replayed {
		return found, nil
	}
	what, value := "cached", string(found.cacheKey)
	if found.Job != nil {
		what, value = "job", found.Job.ID
	}
	stored, err := same.SetOutcome(r.Context(), what, value)
	if err != nil || stored == value {
		return found, err
	}
	first, err := k.storedOutcome(r.Context(), same)
	if first.IsEmpty() {
		return found, err
	}
	return first, err
}

// storedOutcome loads the outcome of a request. It is empty when its result or its job
// has expired, so that the work is done again.
func (k *Work) storedOutcome(ctx context.Context, same *idempotencykey.Request) (Outcome, error) {
	if key, ok := same.Outcome("cached"); ok {
		found, err := k.CachedOutcome(ctx, cache.Key(key))
		found.replayed = !found.IsEmpty()
		return found, err
	}
	id, ok := same.Outcome("job")
	if !ok {
		return Outcome{}, nil
	}
	job, err := k.Job(ctx, id)
	if errors.Is(err, ErrJobNotFound) {
		return Outcome{}, nil
	}
	return Outcome{Job: job, replayed: true}, err
}
