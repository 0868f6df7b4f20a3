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

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/localtime"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

const (
	keyAnswer = "tra:answer:"  // followed by the hash of the request: one answer
	keyLease  = "{tra:answer:" // followed by the hash and keyAsking: the lease of the process that calls the authority
	keyAsking = "}:asking"
	keyPeriod = "tra:period" // the latest year and quarter that the authority showed
	staleTTL  = 92 * 24 * time.Hour

	// The intervals at which a process polls for the answer that another one
	// fetches: the first, and the longest. The authority answers in about a second.
	pollInitial = 10 * time.Millisecond
	pollMax     = 100 * time.Millisecond
)

// cached returns the answer from Redis, or else fetches it: once for all equal
// requests of all processes, and to the end even when the callers leave. fetch
// returns for how long its answer is valid; 0 means until the end of the quarter.
// then, if not nil, is called with a new answer after it was stored, because a
// process that dies must not lose an answer.
func cached[T any](
	ctx context.Context, a *Authority, q listRequest, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (cachedAnswer[T], error) {
	key := q.key()
	if answer, ok := recall[T](a.store, key); ok {
		a.store.onLookup(q, true)
		return answer, nil
	}
	f := &fetcher[T]{a: a, key: key, q: q, fetch: fetch, then: then}
	fetching := a.calls.DoChan(key, func() (any, error) { return f.once(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return cachedAnswer[T]{}, ctx.Err()
	case result := <-fetching:
		answer, _ := result.Val.(cachedAnswer[T])
		return answer, result.Err
	}
}

// recall returns a fresh list from the memory of the process. It needs the latest
// period as it was at most refreshInterval ago.
func recall[T any](store *Store, key string) (cachedAnswer[T], bool) {
	known, _ := store.lists.Get(key)
	list, ok := known.(stored[T])
	latest, recent := store.period.get()
	if !ok || !recent || !store.isFresh(list.FreshUntil, list.Period, int(latest)) {
		return cachedAnswer[T]{}, false
	}
	return cachedAnswer[T]{list, true, true}, true
}

// cachedAnswer is an answer of the cache; fresh means that it has not expired.
type cachedAnswer[T any] struct {
	stored[T]

	found, fresh bool
}

// isFresh reports whether an answer has not expired and the authority has not
// revised its values since.
func (s *Store) isFresh(until time.Time, period, latest int) bool {
	return s.options.Now().Before(until) && (period == 0 || period >= latest)
}

// fetcher fetches one answer.
type fetcher[T any] struct {
	a     *Authority
	key   string
	q     listRequest
	fetch func(context.Context) (T, time.Duration, error)
	then  func(context.Context, T)
}

// once calls the authority, unless the answer is cached or another process calls it;
// then it waits for the answer of that process. It calls the authority when that
// process fails or dies. With an error it returns the expired answer if there is one.
func (f *fetcher[T]) once(ctx context.Context) (cachedAnswer[T], error) {
	for wait := pollInitial; ; wait = min(2*wait, pollMax) {
		known, held, err := acquire[T](ctx, f.a.store, f.key)
		switch {
		case err != nil:
			return known, err
		case known.fresh:
			f.a.store.onLookup(f.q, true)
			return known, nil
		case held != nil:
			f.a.store.onLookup(f.q, false)
			answer, err := f.call(ctx, held)
			if err != nil {
				return known, err
			}
			return answer, nil
		}
		time.Sleep(wait) // ctx does not end
	}
}

// call makes the call and stores its answer, together with the release of the lease.
// The answer has the time before the call, because an answer requested in the old
// year must not count as one of the new year.
func (f *fetcher[T]) call(ctx context.Context, held *heldLease) (cachedAnswer[T], error) {
	var hold time.Duration
	store, s := f.a.store, stored[T]{Question: f.q}
	answer, err := call(ctx, f.a, f.q.Call, func(ctx context.Context) (answer T, err error) {
		s.At = store.options.Now()
		answer, hold, err = f.fetch(ctx)
		return answer, err
	})
	if err != nil {
		held.release()
		return cachedAnswer[T]{}, err
	}
	s.Answer = answer
	life := store.validity(&s.FreshUntil, s.At, hold)
	s.Period = int(store.period.last())
	if timed, ok := any(answer).(interface{ period(now time.Time) int }); ok {
		s.Period = max(s.Period, timed.period(store.options.Now()))
		store.period.raise(int64(s.Period))
	}
	if f.q.Call != callDetails {
		store.lists.Add(f.key, s)
	}
	defer held.stop()
	retries := pace.Backoff{InitialDelay: retryDelay, MaxDelay: time.Second, Timeout: storeTimeout}
	if err := pace.Retry(ctx, retries, func() error { return save(ctx, store, f.key, s, life, held) }); err != nil {
		return cachedAnswer[T]{s, true, true}, err
	}
	if f.then != nil {
		f.then(ctx, answer)
	}
	return cachedAnswer[T]{s, true, true}, nil
}

// storeTimeout is how long a write of an answer is retried while Redis is not
// available.
const storeTimeout = 30 * time.Second

// decoded decides whether a value is fresh, and keeps lists in memory.
func decoded[T any](store *Store, key string, value []byte) cachedAnswer[T] {
	s, ok := decodeStored[T](value)
	if !ok { // there is none, or one that cannot be read
		return cachedAnswer[T]{}
	}
	answer := cachedAnswer[T]{s, true, store.isFresh(s.FreshUntil, s.Period, int(store.period.last()))}
	if answer.fresh && s.Question.Call != callDetails {
		store.lists.Add(key, s)
	}
	return answer
}

// validity sets until when an answer of a time is fresh, and returns for how long it
// is kept. hold is as in cached.
func (s *Store) validity(until *time.Time, at time.Time, hold time.Duration) (life time.Duration) {
	*until = QuarterEnd(at)
	life = until.Sub(s.options.Now()) + staleTTL
	if hold > 0 && at.Add(hold).Before(*until) {
		*until, life = at.Add(hold), hold
	}
	return life
}

// QuarterEnd returns the end of the calendar quarter of now in Dar es Salaam. The
// authority revises its values every quarter and ages change at New Year, so no
// figure is valid beyond it.
func QuarterEnd(now time.Time) time.Time { return localtime.Quarter(now).AddDate(0, 3, 0) }

// readPeriod adds the look-up of the period to a pipeline when the one in memory is
// too old; otherwise it returns nil.
func (s *Store) readPeriod(ctx context.Context, pipe redis.Pipeliner) *redis.StringCmd {
	if _, recent := s.period.get(); recent {
		return nil
	}
	return pipe.Get(ctx, keyPeriod)
}

// sawPeriod keeps the period that a pipeline read.
func (s *Store) sawPeriod(reply *redis.StringCmd, read time.Time) error {
	if reply == nil {
		return nil
	}
	latest, err := reply.Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("tra: period: %w", err)
	}
	s.period.set(latest, read)
	return nil
}

// periodOf returns a number that orders the authority's year and quarter. Their
// meaning is not documented; only their order is used.
func periodOf(tax vehicle.Tax) int { return tax.Year*10 + tax.Quarter }

// listRequest identifies a cached answer.
type listRequest struct {
	Call  string `json:"call"`
	Tuple        //nolint:embeddedstructfieldcheck // the keys in Redis are hashes of this order
}

// requestOf identifies the next list of a vehicle, or its calculation, by the name of its make.
func requestOf(m catalogue.Make, v catalogue.Vehicle) listRequest {
	return listRequest{listCalls[v.Next()], Tuple{m.Name, v.ModelBody, v.YOM, v.Country, v.FuelType, v.EngineCapacity}}
}

// key returns the answer's key in Redis.
func (q listRequest) key() string {
	text, _ := json.Marshal(q) //nolint:errchkjson // texts and a number
	sum := sha256.Sum256(text)
	return keyAnswer + hex.EncodeToString(sum[:16])
}

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

// leaseKey is the key of the lease of an answer. Its hash tag is the answer's key, so
// that one script touches both on a Cluster too.
func leaseKey(key string) string { return keyLease + strings.TrimPrefix(key, keyAnswer) + keyAsking }

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

// heldLease is a lease that this process has and renews.
type heldLease struct {
	token   string
	stop    func() // ends the renewals: the lease expires, unless it was released
	release func()
}

// A lease expires leaseTTL after its process has died.
const (
	leaseTTL      = 5 * time.Second
	leaseInterval = 2 * time.Second
)

// ARGV: token, life in ms; 0 lets go.
var leaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

// hold renews a lease that was just acquired.
func (s *Store) hold(ctx context.Context, key, token string) *heldLease {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	renew := func(life time.Duration) {
		// The next renewal follows soon; without it the lease expires.
		_ = leaseScript.Run(ctx, s.redis, []string{key}, token, life.Milliseconds()).Err()
	}
	go func() {
		defer close(done)
		ticker := time.NewTicker(leaseInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				renew(leaseTTL)
			}
		}
	}()
	stop := func() {
		cancel()
		<-done
	}
	return &heldLease{token, stop, func() {
		renew(0)
		stop()
	}}
}

// ErrSyncing means that another sync of the catalogue is running.
var ErrSyncing = errors.New("tra: another sync is running")

// lockSync acquires the lease of the one sync and renews it until release. It returns
// ErrSyncing when another process has it.
func (s *Store) lockSync(ctx context.Context) (release func(), err error) {
	token := rand.Text()
	taken, err := s.redis.SetNX(ctx, keySyncing, token, leaseTTL).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: lease: %w", err)
	}
	if !taken {
		return nil, ErrSyncing
	}
	return s.hold(ctx, keySyncing, token).release, nil
}

// ErrNotKnown means that the cache has no fresh answer: only the authority can
// give it.
var ErrNotKnown = errors.New("tra: the answer is not known")

// Known returns the authority's answers from the cache only. It never calls the
// authority and needs no client of it, so that a worker of any role can use it.
// An answer is fresh exactly as long as it is for an Authority: until the end of
// its quarter, until the authority shows a later period, and an empty list for
// EmptyListTTL. What is not cached or not fresh is ErrNotKnown.
type Known struct {
	store *Store
	stale bool
}

// Known returns the cached answers of the store's Redis.
func (s *Store) Known() *Known { return &Known{store: s} }

// Stale returns also the cached answers that are not fresh any more. They are for
// the time in which the authority cannot be asked; their calculations say so.
func (s *Store) Stale() *Known { return &Known{s, true} }

// List returns the values of the first empty field of a vehicle of the make m.
func (k *Known) List(ctx context.Context, m catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	got, err := knownAnswer[[]string](ctx, k, requestOf(m, v))
	return got.Answer, err
}

// Details returns the tax on one vehicle. It uses the name of the make m, not the
// id of v.
func (k *Known) Details(ctx context.Context, m catalogue.Make, v catalogue.Vehicle) (Calculation, error) {
	got, err := knownAnswer[calculation](ctx, k, requestOf(m, v))
	if err != nil {
		return Calculation{}, err
	}
	return calculationOf(got), nil
}

// knownAnswer returns the answer to a request, or ErrNotKnown.
func knownAnswer[T any](ctx context.Context, k *Known, q listRequest) (cachedAnswer[T], error) {
	got, err := lookup[T](ctx, k.store, q.key())
	switch {
	case err != nil:
		return cachedAnswer[T]{}, err
	case !got.found || !got.fresh && !k.stale:
		k.store.onLookup(q, false)
		return cachedAnswer[T]{}, ErrNotKnown
	}
	k.store.onLookup(q, true)
	return got, nil
}

// lookup reads an answer, from memory or else from Redis, and decides whether it is
// fresh.
func lookup[T any](ctx context.Context, store *Store, key string) (cachedAnswer[T], error) {
	if answer, ok := recall[T](store, key); ok {
		return answer, nil
	}
	pipe, read := store.redis.Pipeline(), time.Now()
	value, period := pipe.Get(ctx, key), store.readPeriod(ctx, pipe)
	if err := redisx.Exec(ctx, pipe); err != nil {
		return cachedAnswer[T]{}, fmt.Errorf("tra: cached answer: %w", err)
	}
	if err := store.sawPeriod(period, read); err != nil {
		return cachedAnswer[T]{}, err
	}
	if err := value.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return cachedAnswer[T]{}, fmt.Errorf("tra: cached answer: %w", err)
	}
	return decoded[T](store, key, []byte(value.Val())), nil
}

// Tuple names calculations of the authority. Fields that are empty match any value.
type Tuple struct {
	Make      string `json:"make"`
	ModelBody string `json:"modelBody"`
	YOM       int    `json:"yom,omitempty"`
	Country   string `json:"country,omitempty"`
	Fuel      string `json:"fuel,omitempty"`
	Capacity  string `json:"capacity,omitempty"`
}

// Matches reports whether a vehicle is one of the tuple.
func (t Tuple) Matches(v Tuple) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(t.Make, v.Make) && same(t.ModelBody, v.ModelBody) && (t.YOM == 0 || t.YOM == v.YOM) &&
		same(t.Country, v.Country) && same(t.Fuel, v.Fuel) && same(t.Capacity, v.Capacity)
}

// DropCalculations deletes the cached calculations of the vehicles of a tuple and returns
// how many, so that the authority is asked again. It reads all cached answers: it is for an
// operator.
func (s *Store) DropCalculations(ctx context.Context, t Tuple) (dropped int, err error) {
	err = redisx.Scan(ctx, s.redis, keyAnswer+"*", func(keys []string) error {
		for _, key := range keys {
			value, err := s.redis.Get(ctx, key).Bytes()
			if errors.Is(err, redis.Nil) {
				continue
			}
			if err != nil {
				return err
			}
			answer, ok := decodeStored[json.RawMessage](value)
			if !ok || answer.Question.Call != callDetails || !t.Matches(answer.Question.Tuple) {
				continue
			}
			n, err := s.redis.Del(ctx, key).Result()
			if err != nil {
				return err
			}
			dropped += int(n)
		}
		return nil
	})
	return dropped, failed(err, "drop calculations")
}
