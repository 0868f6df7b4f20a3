package await

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/pace"
)

const (
	// maxIdempotencyKey is the maximum length of a key in bytes.
	maxIdempotencyKey = 255
	// requestTTL is how long a request is recorded, and requestBytes what its record takes in
	// Redis.
	requestTTL   = 24 * time.Hour
	requestBytes = 2*pace.EntryOverhead + 150
)

var (
	errKeyInvalid = problem.BadRequest("idempotency_key_invalid").Of("Idempotency-Key")
	errReused     = problem.New(http.StatusUnprocessableEntity, "idempotency_key_reused", nil)
)

// Idempotent is a request that carries an Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header): a caller who got no response sends the same
// request again, its work is done once, and it has the outcome of the first. Its record is a hash
// of body (a digest) and outcome in Redis. Nil carries no key, and all methods accept it.
//
// A request is recorded before its work begins, and its outcome as soon as that has a name.
// A process that dies in between leaves a record without an outcome, and the next request
// goes on as the first. The work must therefore bear to be begun twice; the outcome that was
// set first is that of all.
type Idempotent struct {
	redis   redis.UniversalClient
	record  string // its key in Redis
	outcome string // "" until one is set
}

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

// scriptBegin records a request. ARGV: digest of its identity, TTL in ms.
// Returns the outcome, "" for none yet, false when the record is of a
// different request.
var scriptBegin = redis.NewScript(`
if redis.call('HSETNX', KEYS[1], 'body', ARGV[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return ''
end
if redis.call('HGET', KEYS[1], 'body') ~= ARGV[1] then return false end
return redis.call('HGET', KEYS[1], 'outcome') or ''
`)

// Begin records a request under its Idempotency-Key before the work begins, or finds the record
// of an earlier one. Two requests are the same when their identities are equal as JSON. A new
// record counts against the limits, also when a cached result responds. Begin returns nil when
// the request carries no key.
func (k *Work) Begin(w http.ResponseWriter, r *request.Request, identity any) (*Idempotent, error) {
	if r.IdempotencyKey == "" {
		return nil, nil //nolint:nilnil // nil is a request without a key
	}
	body, err := json.Marshal(identity)
	if err != nil {
		return nil, fmt.Errorf("await: identity of a request: %w", err)
	}
	name, digest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Key.ID, r.URL.Path, r.IdempotencyKey)), sha256.Sum256(body)
	same := &Idempotent{redis: k.options.Redis, record: "idempotency:" + hex.EncodeToString(name[:16])}
	ctx := r.Context()
	recorded, err := same.redis.Exists(ctx, same.record).Result()
	if err != nil {
		return nil, fmt.Errorf("await: begin: %w", err)
	}
	kept := pace.Kept{Size: requestBytes, TTL: requestTTL}
	if recorded == 0 {
		if err := k.options.Limits.Take(w, r, kept); err != nil {
			return nil, err
		}
	}
	same.outcome, err = scriptBegin.Run(ctx, same.redis, []string{same.record},
		hex.EncodeToString(digest[:16]), requestTTL.Milliseconds()).Text()
	switch {
	case err == nil:
		same.SetReplayed(w, same.outcome != "")
		return same, nil
	case errors.Is(err, redis.Nil):
		err = errReused
	default:
		err = fmt.Errorf("await: begin: %w", err)
	}
	if recorded == 0 {
		err = errors.Join(err, k.options.Limits.GiveBack(r, kept))
	}
	return nil, err
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
	return strings.CutPrefix(same.outcome, kind+":")
}

// scriptSetOutcome sets the outcome if there is none, or in place of another, and returns the
// one that is set. ARGV: outcome, the other. When the record has expired that is the given one.
var scriptSetOutcome = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return ARGV[1] end
if redis.call('HGET', KEYS[1], 'outcome') == ARGV[2] then redis.call('HDEL', KEYS[1], 'outcome') end
redis.call('HSETNX', KEYS[1], 'outcome', ARGV[1])
return redis.call('HGET', KEYS[1], 'outcome')
`)

// SetOutcome stores the outcome of the request, unless it has one already, and
// returns the stored outcome; an empty string when that is of another kind.
func (same *Idempotent) SetOutcome(ctx context.Context, kind, value string) (string, error) {
	return same.replaceOutcome(ctx, kind, value, "")
}

// replaceOutcome is SetOutcome in place of an outcome that is over: "" for none.
func (same *Idempotent) replaceOutcome(ctx context.Context, kind, value, over string) (string, error) {
	if same == nil {
		return value, nil
	}
	set, err := scriptSetOutcome.Run(ctx, same.redis, []string{same.record}, kind+":"+value, over).Text()
	if err != nil {
		return "", fmt.Errorf("await: set outcome: %w", err)
	}
	same.outcome = set
	if value, ok := same.Outcome(kind); ok {
		return value, nil
	}
	return "", nil
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
