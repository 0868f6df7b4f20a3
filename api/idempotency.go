package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
)

const (
	// maxIdempotencyKey is the maximum length of a key in bytes.
	maxIdempotencyKey = 255
	// recordBytes is what the record of a request takes in Redis.
	recordBytes = 2*quota.EntryOverhead + 150
)

// idempotentRequest is a request that carries an Idempotency-Key. A nil
// idempotentRequest carries none, and all methods accept it.
type idempotentRequest struct {
	key    string
	stored *idempotency.Request // nil until beginIdempotent
}

// contextKey is that of the idempotentRequest in the context of a request.
type contextKey struct{}

func idempotentRequestOf(r *http.Request) *idempotentRequest {
	same, _ := r.Context().Value(contextKey{}).(*idempotentRequest)
	return same
}

// idempotent is the middleware of endpoints that accept an Idempotency-Key. It
// rejects an invalid key. The handler says by beginIdempotent or replay which
// request it is, once it has decoded it.
func idempotent(next respond.Handler) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := idempotencyKey(r.Header)
		if err != nil {
			return err
		}
		if key != "" {
			r = r.WithContext(context.WithValue(r.Context(), contextKey{}, &idempotentRequest{key: key}))
		}
		return next(w, r)
	}
}

// idempotencyKey returns the key of a request; it is empty when there is none.
// The IETF draft requires double quotes around the key; many clients omit
// them, so both are accepted.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if inner, quoted := strings.CutPrefix(key, `"`); quoted {
		var closed bool
		if key, closed = strings.CutSuffix(inner, `"`); !closed {
			return "", errIdempotencyKeyInvalid
		}
	}
	unprintable := strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || unprintable {
		return "", errIdempotencyKeyInvalid
	}
	return key, nil
}

// beginIdempotent stores a request under its Idempotency-Key before the work
// begins. Two requests are the same when their identities are equal as JSON.
// It returns nil when the request carries no key.
func (s *Server) beginIdempotent(r *http.Request, identity any) (*idempotentRequest, error) {
	rec := respond.RecorderOf(r)
	same := idempotentRequestOf(r)
	if same == nil {
		return nil, nil //nolint:nilnil // nil is a request without a key
	}
	body, err := json.Marshal(identity)
	if err != nil {
		return nil, fmt.Errorf("api: identity of a request: %w", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	// A new record counts against the limits, also when a cached result responds.
	same.stored, err = s.options.Idempotency.Begin(ctx, rec.Key.ID, r.URL.Path, same.key, body, func() error {
		if err := s.checkRate(rec, r); err != nil {
			return err
		}
		return s.keep(rec, r, room{}, quota.Kept{Size: recordBytes, TTL: idempotency.RecordTTL})
	})
	var refused *problem.Problem
	switch {
	case errors.Is(err, idempotency.ErrReused):
		return nil, errIdempotencyKeyReused.WithCause(err)
	case errors.As(err, &refused):
		return nil, refused
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	same.setReplayed(rec, same.stored.Outcome != "")
	return same, nil
}

// replayedHeader says that a response is that of an earlier request with the same
// Idempotency-Key.
const replayedHeader = "Idempotency-Replayed"

// setReplayed says whether the request was carried out before.
func (same *idempotentRequest) setReplayed(w http.ResponseWriter, replayed bool) {
	switch {
	case same == nil:
	case replayed:
		w.Header().Set(replayedHeader, "true")
	default:
		w.Header().Del(replayedHeader)
	}
}

// outcome returns the stored outcome of the request, if it is of a kind, such
// as "job".
func (same *idempotentRequest) outcome(kind string) (string, bool) {
	if same == nil {
		return "", false
	}
	return strings.CutPrefix(same.stored.Outcome, kind+":")
}

// setOutcome stores the outcome of the request, unless it has one already, and
// returns the stored outcome; an empty string when that is of another kind.
func (same *idempotentRequest) setOutcome(parent context.Context, kind, value string) (string, error) {
	if same == nil {
		return value, nil
	}
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	stored, err := same.stored.SetOutcome(ctx, kind+":"+value)
	if err != nil {
		return "", respond.ErrUnavailable.WithCause(err)
	}
	same.stored.Outcome = stored
	value, _ = same.outcome(kind)
	return value, nil
}

// isDone reports whether the request has been carried out before.
func (same *idempotentRequest) isDone() bool {
	_, done := same.outcome("done")
	return done
}

// setDone stores that the request has been carried out.
func (same *idempotentRequest) setDone(ctx context.Context) error {
	_, err := same.setOutcome(ctx, "done", "")
	return err
}

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
	same, err := s.beginIdempotent(r, identity)
	if err != nil {
		return outcome{}, err
	}
	found, err := s.storedOutcome(r.Context(), same)
	same.setReplayed(respond.RecorderOf(r), !found.isEmpty())
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
	same := idempotentRequestOf(r)
	if same == nil || found.replayed {
		return found, nil
	}
	what, value := "cached", string(found.cacheKey)
	if found.job != nil {
		what, value = "job", found.job.ID
	}
	stored, err := same.setOutcome(r.Context(), what, value)
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
func (s *Server) storedOutcome(ctx context.Context, same *idempotentRequest) (outcome, error) {
	if key, ok := same.outcome("cached"); ok {
		found, err := s.cachedOutcome(ctx, cache.Key(key))
		found.replayed = !found.isEmpty()
		return found, err
	}
	id, ok := same.outcome("job")
	if !ok {
		return outcome{}, nil
	}
	job, err := s.job(ctx, id)
	if errors.Is(err, errJobNotFound) {
		return outcome{}, nil
	}
	return outcome{job: job, replayed: true}, err
}
