// Package idempotency remembers for a day what came of requests that carry an
// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header), so that a
// caller who got no answer may send the same request again and it is not done
// twice.
//
// A request is noted before its work is begun, and what came of it as soon as
// that has a name. Whoever dies in between leaves a note without an outcome:
// the next one goes on as the first. The work itself must therefore bear to be
// begun twice, and the outcome that was bound first is that of all.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Life is how long a request is remembered.
const Life = 24 * time.Hour

// ErrReused means that another request was sent under the key before.
var ErrReused = errors.New("idempotency: the key was used for another request")

// Store keeps requests in Redis, each a hash of body (a digest) and outcome.
type Store struct{ redis redis.UniversalClient }

// NewStore makes a Store on a Redis connection that stays the caller's.
func NewStore(client redis.UniversalClient) *Store { return &Store{redis: client} }

// Request is a request that was noted.
type Request struct {
	// Outcome is what was bound to it before; "" for nothing.
	Outcome string

	redis redis.UniversalClient
	key   string
}

// scriptBegin notes a request. ARGV: digest of what is asked, lifetime in ms.
// Returns the outcome, "" for none yet, nothing when another was noted before.
var scriptBegin = redis.NewScript(`
if redis.call('HSETNX', KEYS[1], 'body', ARGV[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return ''
end
if redis.call('HGET', KEYS[1], 'body') ~= ARGV[1] then return false end
return redis.call('HGET', KEYS[1], 'outcome') or ''
`)

// scriptBind binds the first outcome and returns the one that stands. ARGV:
// outcome. Of a request that is remembered no longer it is the one given.
var scriptBind = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return ARGV[1] end
redis.call('HSETNX', KEYS[1], 'outcome', ARGV[1])
return redis.call('HGET', KEYS[1], 'outcome')
`)

// Begin notes a request of an owner to a path under a key, or finds it as it
// was noted before. asked is what makes two requests the same. ErrReused when
// something else was asked under the key.
func (s *Store) Begin(ctx context.Context, owner, path, key string, asked []byte) (*Request, error) {
	name := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", owner, path, key))
	body := sha256.Sum256(asked)
	r := &Request{redis: s.redis, key: "idempotency:" + hex.EncodeToString(name[:16])}
	outcome, err := scriptBegin.Run(ctx, s.redis, []string{r.key}, hex.EncodeToString(body[:16]), Life.Milliseconds()).Text()
	if errors.Is(err, redis.Nil) {
		return nil, ErrReused
	}
	r.Outcome = outcome
	return r, err
}

// Bind says what came of the request and returns what stands: the first word
// of all who work on it.
func (r *Request) Bind(ctx context.Context, outcome string) (string, error) {
	return scriptBind.Run(ctx, r.redis, []string{r.key}, outcome).Text()
}
