package tra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/retry"
	"ushuru/pkg/vehicle"
)

const (
	keyAnswer = "tra:answer:" // followed by the hash of the request: one answer
	keyLock   = ":asking"     // suffix of keyAnswer: the lease of the process that calls the authority
	keyPeriod = "tra:period"  // the latest year and quarter that the authority showed
	staleTTL  = 92 * 24 * time.Hour

	// The intervals at which a process polls for the answer that another one
	// fetches: the first, and the longest. The authority answers in about a second.
	pollInitial = 10 * time.Millisecond
	pollMax     = 100 * time.Millisecond
)

// stored is an answer in Redis, with its request.
type stored[T any] struct {
	At         time.Time   `json:"at"` // when the authority was asked
	FreshUntil time.Time   `json:"freshUntil"`
	Period     int         `json:"period"` // the latest that was known when it was stored; 0: none was yet
	Question   listRequest `json:"question"`
	Answer     T           `json:"answer"`
}

type staleKey struct{}

// AllowStale returns a context in which an Authority may return an expired
// answer when the authority fails or the throttle refuses the call. The tax then
// has a warning with the code WarnStale.
func AllowStale(ctx context.Context) context.Context {
	return context.WithValue(ctx, staleKey{}, true)
}

// cachedList is cached for lists. An empty list is cached for EmptyListTTL only.
func cachedList[T any](ctx context.Context, a *Authority, q listRequest, fetch func(context.Context) ([]T, error)) ([]T, error) {
	list, err := cached(ctx, a, q, func(ctx context.Context) ([]T, time.Duration, error) {
		list, err := fetch(ctx)
		if len(list) == 0 {
			return list, a.options.EmptyListTTL, err
		}
		return list, 0, err
	}, nil)
	return list.Answer, err
}

// cached returns the answer from Redis, or else fetches it: once for all equal
// requests of all processes, and to the end even when the callers leave. fetch
// returns for how long its answer is valid; 0 means until the end of the quarter.
// then, if not nil, is called with a new answer after it was stored, because a
// process that dies must not lose an answer.
func cached[T any](
	ctx context.Context, a *Authority, q listRequest, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (cachedAnswer[T], error) {
	key, err := q.key()
	if err != nil {
		return cachedAnswer[T]{}, err
	}
	known, found, err := lookup[T](ctx, a.store, key)
	if err != nil || found && known.fresh {
		return known, err
	}
	fetching := a.calls.DoChan(key, func() (any, error) {
		return fetchOnce(context.WithoutCancel(ctx), a, key, q, fetch, then)
	})
	select {
	case <-ctx.Done():
		return cachedAnswer[T]{}, ctx.Err()
	case result := <-fetching:
		if found && ctx.Value(staleKey{}) != nil && isTemporary(result.Err) {
			return known, nil
		}
		answer, _ := result.Val.(cachedAnswer[T])
		return answer, result.Err
	}
}

// fetchOnce calls the authority, unless another process does so; then it waits
// for the answer of that process. It calls the authority when that process fails
// or dies.
func fetchOnce[T any](
	ctx context.Context, a *Authority, key string, q listRequest, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (answer cachedAnswer[T], err error) {
	for wait := pollInitial; ; wait = min(2*wait, pollMax) {
		release, err := a.store.lease(ctx, key+keyLock)
		if err != nil && !errors.Is(err, errLocked) {
			return answer, err
		}
		known, found, err := lookup[T](ctx, a.store, key) // another process may have stored it meanwhile
		switch {
		case err == nil && found && known.fresh:
			if release != nil {
				release()
			}
			return known, nil
		case release != nil:
			defer release()
			answer, err := fetchAndStore(ctx, a, key, q, fetch)
			if then != nil && err == nil {
				then(ctx, answer.Answer)
			}
			return answer, err
		case err != nil:
			return answer, err
		}
		time.Sleep(wait) // ctx does not end
	}
}

// fetchAndStore makes the call and stores its answer. The answer has the time
// before the call, because an answer requested in the old year must not count as
// one of the new year.
func fetchAndStore[T any](
	ctx context.Context, a *Authority, key string, q listRequest, fetch func(context.Context) (T, time.Duration, error),
) (cachedAnswer[T], error) {
	var hold time.Duration
	s := stored[T]{Question: q}
	answer, err := call(ctx, a, q.Call, func(ctx context.Context) (answer T, err error) {
		s.At = a.store.options.Now()
		answer, hold, err = fetch(ctx)
		return answer, err
	})
	if err != nil {
		return cachedAnswer[T]{}, err
	}
	s.Answer = answer
	if hold == notStored {
		return cachedAnswer[T]{s, true}, nil
	}
	return cachedAnswer[T]{s, true}, retryWrite(ctx, func() error { return store(ctx, a, key, s, hold) })
}

// notStored is the validity of an answer that is not stored: the next caller makes
// the call again.
const notStored time.Duration = -1

// storeTimeout is how long a write of an answer is retried while Redis is not
// available.
const storeTimeout = 30 * time.Second

// retryWrite retries a write until it succeeds, ctx ends or storeTimeout passes.
func retryWrite(ctx context.Context, write func() error) error {
	return retry.Do(ctx, retry.Policy{InitialDelay: retryDelay, MaxDelay: time.Second, Timeout: storeTimeout}, write)
}

// isTemporary reports whether an error means that the authority could not be
// called, rather than that it refused.
func isTemporary(err error) bool {
	_, throttled := errors.AsType[*ThrottleError](err)
	return throttled || isOutage(err) || kindOf(err) == Certificate
}

// cachedAnswer is an answer of the cache; fresh means that it has not expired.
type cachedAnswer[T any] struct {
	stored[T]
	fresh bool
}

// lookup reads an answer from Redis and decides whether it is fresh.
func lookup[T any](ctx context.Context, store *Store, key string) (known cachedAnswer[T], found bool, err error) {
	pipe := store.redis.Pipeline()
	value, period := pipe.Get(ctx, key), pipe.Get(ctx, keyPeriod)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return known, false, fmt.Errorf("tra: cached answer: %w", err)
	}
	text, err := value.Bytes()
	if errors.Is(err, redis.Nil) {
		return known, false, nil
	}
	if err != nil {
		return known, false, fmt.Errorf("tra: cached answer: %w", err)
	}
	if understood := json.Unmarshal(text, &known.stored) == nil; !understood { // written by another version of the program
		return cachedAnswer[T]{}, false, nil
	}
	latest, err := period.Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return known, false, fmt.Errorf("tra: period: %w", err)
	}
	revised := known.Period != 0 && known.Period < latest
	known.fresh = store.options.Now().Before(known.FreshUntil) && !revised
	return known, true, nil
}

// remember keeps an answer for as long as it is of use. hold is as in cached.
func store[T any](ctx context.Context, a *Authority, key string, s stored[T], hold time.Duration) error {
	latest, err := a.store.period(ctx)
	if err != nil {
		return err
	}
	s.Period, s.FreshUntil = latest, QuarterEnd(s.At)
	life := s.FreshUntil.Sub(a.store.options.Now()) + staleTTL
	if hold > 0 && s.At.Add(hold).Before(s.FreshUntil) {
		s.FreshUntil, life = s.At.Add(hold), hold
	}
	value, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("tra: store answer: %w", err)
	}
	if err := a.store.redis.Set(ctx, key, value, life).Err(); err != nil {
		return fmt.Errorf("tra: store answer: %w", err)
	}
	return nil
}

// periodOf returns a number that orders the authority's year and quarter. Their
// meaning is not documented; only their order is used.
func periodOf(tax vehicle.Tax) int { return tax.Year*10 + tax.Quarter }

func (s *Store) period(ctx context.Context) (int, error) {
	latest, err := s.redis.Get(ctx, keyPeriod).Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("tra: period: %w", err)
	}
	return latest, nil
}

// recordPeriod notes a year and quarter. A later one than before means that the
// authority revised its values: every answer stored until then is stale.
func (s *Store) recordPeriod(ctx context.Context, period int) error {
	latest, err := s.period(ctx)
	if err != nil || period <= latest {
		return err
	}
	if err := s.redis.Set(ctx, keyPeriod, period, 0).Err(); err != nil {
		return fmt.Errorf("tra: period: %w", err)
	}
	return nil
}
