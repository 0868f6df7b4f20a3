package tra

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"

	"github.com/redis/go-redis/v9"
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

// periodOf returns a number that orders the authority's year and quarter. Their
// meaning is not documented; only their order is used.
func periodOf(tax vehicle.Tax) int { return tax.Year*10 + tax.Quarter }

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

// QuarterEnd returns the end of the calendar quarter of now in Dar es Salaam. The
// authority revises its values every quarter and ages change at New Year, so no
// figure is valid beyond it.
func QuarterEnd(now time.Time) time.Time { return localtime.Quarter(now).AddDate(0, 3, 0) }
