package await

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// requestTTL is how long a request is recorded.
const requestTTL = 24 * time.Hour

// errKeyReused means that the key was used for a different request before.
var errKeyReused = errors.New("await: the key was used for a different request")

// requestRecords are the requests that carried an Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header), each a hash of body (a digest) and outcome in
// Redis, so that a caller who got no response can send the same request again and its work is
// done once.
//
// A request is recorded before its work begins, and its outcome as soon as that has a name.
// A process that dies in between leaves a record without an outcome, and the next request
// goes on as the first. The work must therefore bear to be begun twice; the outcome that was
// set first is that of all.
type requestRecords struct{ redis redis.UniversalClient }

// requestRecord is a recorded request.
type requestRecord struct {
	// outcome is the outcome that was set before; "" when there is none yet.
	outcome string

	redis redis.UniversalClient
	key   string
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

// scriptSetOutcome sets the outcome if there is none, or in place of another, and returns the
// one that is set. ARGV: outcome, the other. When the record has expired that is the given one.
var scriptSetOutcome = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return ARGV[1] end
if redis.call('HGET', KEYS[1], 'outcome') == ARGV[2] then redis.call('HDEL', KEYS[1], 'outcome') end
redis.call('HSETNX', KEYS[1], 'outcome', ARGV[1])
return redis.call('HGET', KEYS[1], 'outcome')
`)

// begin records a request of an owner to a path under a key, or returns the
// record of an earlier one. Two requests are the same when their identity is
// equal. begin returns errKeyReused when the earlier request is a different one. A new
// request is recorded only if admit, which is then called, returns no error; nil
// admits all.
func (s requestRecords) begin(
	ctx context.Context, owner, path, key string, identity []byte, admit func() error,
) (*requestRecord, error) {
	name := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", owner, path, key))
	body := sha256.Sum256(identity)
	r := &requestRecord{redis: s.redis, key: "idempotency:" + hex.EncodeToString(name[:16])}
	if admit != nil {
		recorded, err := s.redis.Exists(ctx, r.key).Result()
		if err != nil {
			return nil, fmt.Errorf("await: begin: %w", err)
		}
		if recorded == 0 {
			if err := admit(); err != nil {
				return nil, err
			}
		}
	}
	outcome, err := scriptBegin.Run(ctx, s.redis, []string{r.key},
		hex.EncodeToString(body[:16]), requestTTL.Milliseconds()).Text()
	if errors.Is(err, redis.Nil) {
		return nil, errKeyReused
	}
	if err != nil {
		return nil, fmt.Errorf("await: begin: %w", err)
	}
	r.outcome = outcome
	return r, nil
}

// setOutcome sets the outcome of the request unless another process has set
// one other than over, and returns the outcome that counts.
func (r *requestRecord) setOutcome(ctx context.Context, outcome, over string) (string, error) {
	set, err := scriptSetOutcome.Run(ctx, r.redis, []string{r.key}, outcome, over).Text()
	if err != nil {
		return "", fmt.Errorf("await: set outcome: %w", err)
	}
	return set, nil
}
