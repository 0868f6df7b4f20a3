package tra

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/catalogue"

	"github.com/redis/go-redis/v9"
)

// stored is an answer in Redis, with its request.
type stored[T any] struct {
	At         time.Time   `json:"at"` // when the authority was asked
	FreshUntil time.Time   `json:"freshUntil"`
	Period     int         `json:"period"` // the latest that was known when it was stored; 0: none was yet
	Question   listRequest `json:"question"`
	Answer     T           `json:"answer"`
}

// A value in Redis is "1|<fresh until, Unix ms>|<period>|" and the answer as packed
// JSON: scriptAcquire reads the head.
const storedVersion = "1"

const storedHead = 4 // parts of a value, the packed JSON included

func encodeStored[T any](s stored[T]) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("tra: store answer: %w", err)
	}
	head := fmt.Sprintf("%s|%d|%d|", storedVersion, s.FreshUntil.UnixMilli(), s.Period)
	return append([]byte(head), redisx.Pack(text)...), nil
}

// decodeStored returns false for a value that cannot be read.
func decodeStored[T any](value []byte) (s stored[T], ok bool) {
	parts := bytes.SplitN(value, []byte("|"), storedHead)
	if len(parts) != storedHead || string(parts[0]) != storedVersion {
		return stored[T]{}, false
	}
	text, err := redisx.Unpack(parts[storedHead-1])
	if err != nil || json.Unmarshal(text, &s) != nil {
		return stored[T]{}, false
	}
	return s, true
}

// leaseKey is the key of the lease of an answer. Its hash tag is the answer's key, so
// that one script touches both on a Cluster too.
func leaseKey(key string) string { return keyLease + strings.TrimPrefix(key, keyAnswer) + keyAsking }

// scriptAcquire reads an answer, and acquires its lease unless it is fresh. ARGV:
// token, TTL in ms, the time in ms, the latest period. It returns the answer, if
// any, and 1 with the lease.
var scriptAcquire = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if value then
  local fresh, period = string.match(value, '^1|(%d+)|(%d+)|')
  if fresh and tonumber(fresh) > tonumber(ARGV[3])
    and (tonumber(period) == 0 or tonumber(period) >= tonumber(ARGV[4])) then return {value, 0} end --
end
-- The same call is sent twice when the reply to the first was lost.
local taken = redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) or redis.call('GET', KEYS[2]) == ARGV[1]
return {value or '', taken and 1 or 0}`)

// acquire reads an answer, and acquires its lease unless it is fresh. The lease is
// nil when another process has it.
func acquire[T any](ctx context.Context, store *Store, key string) (cachedAnswer[T], *heldLease, error) {
	token, lock, read := rand.Text(), leaseKey(key), time.Now()
	var period *redis.StringCmd
	var script *redis.Cmd
	err := redisx.Pipelined(ctx, store.redis, func(pipe redis.Pipeliner, run redisx.ScriptRunner) {
		period = store.readPeriod(ctx, pipe)
		script = run(scriptAcquire, []string{key, lock},
			token, leaseTTL.Milliseconds(), store.options.Now().UnixMilli(), store.period.last())
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return cachedAnswer[T]{}, nil, fmt.Errorf("tra: lease: %w", err)
	}
	if err := store.sawPeriod(period, read); err != nil {
		return cachedAnswer[T]{}, nil, err
	}
	reply, err := script.Slice()
	if err != nil || len(reply) != 2 { //nolint:mnd // as the script says
		return cachedAnswer[T]{}, nil, fmt.Errorf("tra: lease: reply %v: %w", reply, err)
	}
	value, _ := reply[0].(string)
	answer := decoded[T](store, key, []byte(value))
	if taken, _ := reply[1].(int64); taken == 0 {
		if value != "" && !answer.found { // nobody can read it, and while it seems fresh nobody would get the lease
			err = failed(store.redis.Del(ctx, key).Err(), "drop answer")
		}
		return answer, nil, err
	}
	return answer, store.hold(ctx, lock, token), nil
}

// scriptSave stores an answer and releases its lease. ARGV: value, TTL in ms, token
// of the lease.
var scriptSave = redis.NewScript(`
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if redis.call('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
return 1`)

// scriptPeriod raises the period. A later one than before means that the authority
// revised its values: every answer stored until then is stale.
var scriptPeriod = redis.NewScript(`
if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`)

// save stores an answer, releases its lease and raises the period, in one round trip.
func save[T any](ctx context.Context, store *Store, key string, s stored[T], life time.Duration, held *heldLease) error {
	value, err := encodeStored(s)
	if err != nil {
		return err
	}
	err = redisx.Pipelined(ctx, store.redis, func(_ redis.Pipeliner, run redisx.ScriptRunner) {
		if s.Question.Call == callDetails {
			run(scriptPeriod, []string{keyPeriod}, s.Period)
		}
		run(scriptSave, []string{key, leaseKey(key)}, value, life.Milliseconds(), held.token)
	})
	return failed(err, "store answer")
}

// listRequest identifies a cached answer.
type listRequest struct {
	Call      string `json:"call"`
	Make      string `json:"make"`
	ModelBody string `json:"modelBody"`
	YOM       int    `json:"yom,omitempty"`
	Country   string `json:"country,omitempty"`
	Fuel      string `json:"fuel,omitempty"`
	Capacity  string `json:"capacity,omitempty"`
}

// key returns the answer's key in Redis.
func (q listRequest) key() string {
	text, _ := json.Marshal(q) //nolint:errchkjson // texts and a number
	sum := sha256.Sum256(text)
	return keyAnswer + hex.EncodeToString(sum[:16])
}

// requestOf identifies the next list of a vehicle, or its calculation, by the name of its make.
func requestOf(m catalogue.Make, v catalogue.Vehicle) listRequest {
	return listRequest{
		Call: listCalls[v.Next()], Make: m.Name, ModelBody: v.ModelBody, YOM: v.YOM,
		Country: v.Country, Fuel: v.FuelType, Capacity: v.EngineCapacity,
	}
}
