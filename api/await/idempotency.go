package await

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/pace"
)

const (
	// maxIdempotencyKey is the maximum length of a key in bytes.
	maxIdempotencyKey = 255
	// recordBytes is what the record of a request takes in Redis.
	recordBytes = 2*pace.EntryOverhead + 150
)

var (
	errKeyInvalid = problem.BadRequest("idempotency_key_invalid").Of("Idempotency-Key")
	errReused     = problem.New(http.StatusUnprocessableEntity, "idempotency_key_reused", nil)
)

// Idempotent is a request that carries an Idempotency-Key: the same request sent again has
// the outcome of the first. Nil carries none, and all methods accept it.
type Idempotent struct{ stored *requestRecord }

// WithIdempotencyKey is the middleware of endpoints that accept an Idempotency-Key. It
// rejects an invalid key. The handler says by Begin which request it is, once it has decoded
// it.
func WithIdempotencyKey(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		if request.From(r).IdempotencyKey, err = idempotencyKey(r.Header); err != nil {
			return err
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
			return "", errKeyInvalid
		}
	}
	unprintable := strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || unprintable {
		return "", errKeyInvalid
	}
	return key, nil
}

// Begin stores a request under its Idempotency-Key before the work
// begins. Two requests are the same when their identities are equal as JSON.
// It returns nil when the request carries no key.
func (k *Work) Begin(w http.ResponseWriter, r *request.Request, identity any) (*Idempotent, error) {
	if r.IdempotencyKey == "" {
		return nil, nil //nolint:nilnil // nil is a request without a key
	}
	body, err := json.Marshal(identity)
	if err != nil {
		return nil, fmt.Errorf("await: identity of a request: %w", err)
	}
	// A new record counts against the limits, also when a cached result responds.
	record, taken := pace.Kept{Size: recordBytes, TTL: requestTTL}, false
	stored, err := requestRecords{k.options.Redis}.begin(r.Context(), r.Key.ID, r.URL.Path, r.IdempotencyKey, body, func() error {
		err := k.options.Limits.Take(w, r, Demand{Keep: []pace.Kept{record}})
		taken = err == nil
		return err
	})
	if err != nil && taken {
		err = errors.Join(err, k.options.Limits.GiveBack(r, record))
	}
	switch {
	case errors.Is(err, errKeyReused):
		return nil, errReused.WithCause(err)
	case err != nil:
		return nil, err
	}
	same := &Idempotent{stored}
	same.SetReplayed(w, stored.outcome != "")
	return same, nil
}

// replayedHeader says that a response is that of an earlier request with the same
// Idempotency-Key.
const replayedHeader = "Idempotency-Replayed"

// SetReplayed says whether the request was carried out before.
func (same *Idempotent) SetReplayed(w http.ResponseWriter, replayed bool) {
	switch {
	case same == nil:
	case replayed:
		w.Header().Set(replayedHeader, "true")
	default:
		w.Header().Del(replayedHeader)
	}
}

// Outcome returns the stored outcome of the request, if it is of a kind, such
// as "job".
func (same *Idempotent) Outcome(kind string) (string, bool) {
	if same == nil {
		return "", false
	}
	return strings.CutPrefix(same.stored.outcome, kind+":")
}

// SetOutcome stores the outcome of the request, unless it has one already, and
// returns the stored outcome; an empty string when that is of another kind.
func (same *Idempotent) SetOutcome(parent context.Context, kind, value string) (string, error) {
	return same.setOutcome(parent, kind, value, "")
}

// setOutcome is SetOutcome in place of an outcome that is over: "" for none.
func (same *Idempotent) setOutcome(ctx context.Context, kind, value, over string) (string, error) {
	if same == nil {
		return value, nil
	}
	stored, err := same.stored.setOutcome(ctx, kind+":"+value, over)
	if err != nil {
		return "", err
	}
	same.stored.outcome = stored
	value, _ = same.Outcome(kind)
	return value, nil
}

// IsDone reports whether the request has been carried out before.
func (same *Idempotent) IsDone() bool {
	_, done := same.Outcome("done")
	return done
}

// SetDone stores that the request has been carried out.
func (same *Idempotent) SetDone(ctx context.Context) error {
	_, err := same.SetOutcome(ctx, "done", "")
	return err
}
