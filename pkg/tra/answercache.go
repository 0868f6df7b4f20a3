package tra

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/vehicle"
)

const (
	keyAnswer = "tra:answer:" // and the hash of the question: one answer
	keyLock   = ":asking"     // after that: held by the process that asks the authority
	keyPeriod = "tra:period"  // the latest year and quarter that the authority showed
	staleTTL  = 92 * 24 * time.Hour

	// How often one who waits for another's answer looks for it: first, and at
	// most. An answer takes the authority a second or so.
	pollInitial = 10 * time.Millisecond
	pollMax     = 100 * time.Millisecond
)

// question is what an answer is cached under.
type listRequest struct {
	Call      string `json:"call"`
	Make      string `json:"make"`
	ModelBody string `json:"modelBody"`
	YOM       int    `json:"yom,omitempty"`
	Country   string `json:"country,omitempty"`
	Fuel      string `json:"fuel,omitempty"`
	Capacity  string `json:"capacity,omitempty"`
}

func (q listRequest) key() (string, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return "", fmt.Errorf("tra: question: %w", err)
	}
	sum := sha256.Sum256(text)
	return keyAnswer + hex.EncodeToString(sum[:16]), nil
}

// stored is an answer in Redis, with the question that brought it.
type stored[T any] struct {
	At         time.Time   `json:"at"` // when the authority was asked
	FreshUntil time.Time   `json:"freshUntil"`
	Period     int         `json:"period"` // the latest that was known when it was stored; 0: none was yet
	Question   listRequest `json:"question"`
	Answer     T           `json:"answer"`
}

type staleKey struct{}

// AllowStale lets an Authority answer from what it knew in an earlier quarter
// when the authority fails or a gate is closed. The tax then carries a
// warning with code WarnStale.
func AllowStale(ctx context.Context) context.Context {
	return context.WithValue(ctx, staleKey{}, true)
}

// cachedList is cached for lists, of which empty ones are not believed long.
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

// cached answers from Redis, else asks: once for all that ask the same in all
// processes, and to the end even when they go away. fetch says how long its
// answer holds, 0 for the quarter. then, if not nil, is told of a new answer
// once it is kept: nothing comes before that, for what a process that dies has
// not kept must be asked for again.
func cached[T any](
	ctx context.Context, a *Authority, q listRequest, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (cachedAnswer[T], error) {
	key, err := q.key()
	if err != nil {
		return cachedAnswer[T]{}, err
	}
	known, found, err := lookup[T](ctx, a, key)
	if err != nil || found && known.fresh {
		return known, err
	}
	asking := a.flight.DoChan(key, func() (any, error) {
		return fetchOnce(context.WithoutCancel(ctx), a, key, q, fetch, then)
	})
	select {
	case <-ctx.Done():
		return cachedAnswer[T]{}, ctx.Err()
	case result := <-asking:
		if found && ctx.Value(staleKey{}) != nil && isTemporary(result.Err) {
			return known, nil
		}
		answer, _ := result.Val.(cachedAnswer[T])
		return answer, result.Err
	}
}

// fetchOnce asks the authority, unless another process is at it; then it waits
// for that one's answer. When that one fails or dies, it is the next to ask.
func fetchOnce[T any](
	ctx context.Context, a *Authority, key string, q listRequest, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (answer cachedAnswer[T], err error) {
	for wait := pollInitial; ; wait = min(2*wait, pollMax) {
		release, err := a.store.lease(ctx, key+keyLock)
		if err != nil && !errors.Is(err, errLocked) {
			return answer, err
		}
		known, found, err := lookup[T](ctx, a, key) // it may have come meanwhile
		switch {
		case err == nil && found && known.fresh:
			if release != nil {
				release()
			}
			return known, nil
		case release != nil:
			defer release()
			answer, err := ask(ctx, a, key, q, fetch)
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

// ask makes the call and keeps its answer. The answer is of the time before
// the call: one that was asked for in the old year must not pass for the new
// year's because it took a while.
func ask[T any](
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
	return cachedAnswer[T]{s, true}, retryWrite(ctx, func() error { return store(ctx, a, key, s, hold) })
}

// storeTimeout is how long to try to keep an answer while Redis is away. What
// is not kept must be asked for again.
const storeTimeout = 30 * time.Second

// retryWrite does a write until it succeeds, ctx ends or its patience does.
func retryWrite(ctx context.Context, write func() error) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for wait := retryDelay; ; wait = min(2*wait, time.Second) {
		if err := write(); err == nil || !pause(ctx, wait) {
			return err
		}
	}
}

// isTemporary says that the authority could not be asked, rather than that it
// had something else to say.
func isTemporary(err error) bool {
	_, gate := errors.AsType[*ThrottleError](err)
	return gate || isOutage(err) || kindOf(err) == Certificate
}

// cachedAnswer is an answer and whether it still holds.
type cachedAnswer[T any] struct {
	stored[T]
	fresh bool
}

func lookup[T any](ctx context.Context, a *Authority, key string) (known cachedAnswer[T], found bool, err error) {
	pipe := a.store.redis.Pipeline()
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
	if understood := json.Unmarshal(text, &known.stored) == nil; !understood { // of another version of ours: ask again
		return cachedAnswer[T]{}, false, nil
	}
	latest, err := period.Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return known, false, fmt.Errorf("tra: period: %w", err)
	}
	revised := known.Period != 0 && known.Period < latest
	known.fresh = a.store.options.Now().Before(known.FreshUntil) && !revised
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

// periodOf orders the authority's year and quarter. What they are the year
// and quarter of is not known; only that later ones are larger is relied on.
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
