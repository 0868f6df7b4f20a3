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
	keyAsking = ":asking"     // after that: held by the process that asks the authority
	keyPeriod = "tra:period"  // the latest year and quarter that the authority showed
	staleFor  = 92 * 24 * time.Hour

	// How often one who waits for another's answer looks for it: first, and at
	// most. An answer takes the authority a second or so.
	lookFirst = 10 * time.Millisecond
	lookMost  = 100 * time.Millisecond
)

// question is what an answer is cached under.
type question struct {
	Call      string `json:"call"`
	Make      string `json:"make"`
	ModelBody string `json:"modelBody"`
	YOM       int    `json:"yom,omitempty"`
	Country   string `json:"country,omitempty"`
	Fuel      string `json:"fuel,omitempty"`
	Capacity  string `json:"capacity,omitempty"`
}

func (q question) key() (string, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return "", fmt.Errorf("tra: question: %w", err)
	}
	sum := sha256.Sum256(text)
	return keyAnswer + hex.EncodeToString(sum[:16]), nil
}

// stored is an answer in Redis, with the question that brought it.
type stored[T any] struct {
	At         time.Time `json:"at"` // when the authority was asked
	FreshUntil time.Time `json:"freshUntil"`
	Period     int       `json:"period"` // the latest that was known when it was stored; 0: none was yet
	Question   question  `json:"question"`
	Answer     T         `json:"answer"`
}

type staleKey struct{}

// AllowStale lets an Authority answer from what it knew in an earlier quarter
// when the authority fails or a gate is closed. The tax then carries a
// warning with code WarnStale.
func AllowStale(ctx context.Context) context.Context {
	return context.WithValue(ctx, staleKey{}, true)
}

// cachedList is cached for lists, of which empty ones are not believed long.
func cachedList[T any](ctx context.Context, a *Authority, q question, fetch func(context.Context) ([]T, error)) ([]T, error) {
	list, err := cached(ctx, a, q, func(ctx context.Context) ([]T, time.Duration, error) {
		list, err := fetch(ctx)
		if len(list) == 0 {
			return list, a.options.EmptyFor, err
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
	ctx context.Context, a *Authority, q question, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (recalled[T], error) {
	key, err := q.key()
	if err != nil {
		return recalled[T]{}, err
	}
	known, found, err := recall[T](ctx, a, key)
	if err != nil || found && known.fresh {
		return known, err
	}
	asking := a.flight.DoChan(key, func() (any, error) {
		return askOnce(context.WithoutCancel(ctx), a, key, q, fetch, then)
	})
	select {
	case <-ctx.Done():
		return recalled[T]{}, ctx.Err()
	case result := <-asking:
		if found && ctx.Value(staleKey{}) != nil && isPassing(result.Err) {
			return known, nil
		}
		answer, _ := result.Val.(recalled[T])
		return answer, result.Err
	}
}

// askOnce asks the authority, unless another process is at it; then it waits
// for that one's answer. When that one fails or dies, it is the next to ask.
func askOnce[T any](
	ctx context.Context, a *Authority, key string, q question, fetch func(context.Context) (T, time.Duration, error),
	then func(context.Context, T),
) (answer recalled[T], err error) {
	for wait := lookFirst; ; wait = min(2*wait, lookMost) {
		release, err := a.store.lease(ctx, key+keyAsking)
		if err != nil && !errors.Is(err, errHeld) {
			return answer, err
		}
		known, found, err := recall[T](ctx, a, key) // it may have come meanwhile
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
	ctx context.Context, a *Authority, key string, q question, fetch func(context.Context) (T, time.Duration, error),
) (recalled[T], error) {
	var hold time.Duration
	s := stored[T]{Question: q}
	answer, err := call(ctx, a, q.Call, func(ctx context.Context) (answer T, err error) {
		s.At = a.store.options.Now()
		answer, hold, err = fetch(ctx)
		return answer, err
	})
	if err != nil {
		return recalled[T]{}, err
	}
	s.Answer = answer
	return recalled[T]{s, true}, insist(ctx, func() error { return remember(ctx, a, key, s, hold) })
}

// keepPatience is how long to try to keep an answer while Redis is away. What
// is not kept must be asked for again.
const keepPatience = 30 * time.Second

// insist does a write until it succeeds, ctx ends or its patience does.
func insist(ctx context.Context, write func() error) error {
	ctx, cancel := context.WithTimeout(ctx, keepPatience)
	defer cancel()
	for wait := againAfter; ; wait = min(2*wait, time.Second) {
		if err := write(); err == nil || !pause(ctx, wait) {
			return err
		}
	}
}

// isPassing says that the authority could not be asked, rather than that it
// had something else to say.
func isPassing(err error) bool {
	_, gate := errors.AsType[*GateError](err)
	return gate || isOutage(err) || kindOf(err) == Certificate
}

// recalled is an answer and whether it still holds.
type recalled[T any] struct {
	stored[T]
	fresh bool
}

func recall[T any](ctx context.Context, a *Authority, key string) (known recalled[T], found bool, err error) {
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
		return recalled[T]{}, false, nil
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
func remember[T any](ctx context.Context, a *Authority, key string, s stored[T], hold time.Duration) error {
	latest, err := a.store.period(ctx)
	if err != nil {
		return err
	}
	s.Period, s.FreshUntil = latest, QuarterEnd(s.At)
	life := s.FreshUntil.Sub(a.store.options.Now()) + staleFor
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

// sawPeriod notes a year and quarter. A later one than before means that the
// authority revised its values: every answer stored until then is stale.
func (s *Store) sawPeriod(ctx context.Context, period int) error {
	latest, err := s.period(ctx)
	if err != nil || period <= latest {
		return err
	}
	if err := s.redis.Set(ctx, keyPeriod, period, 0).Err(); err != nil {
		return fmt.Errorf("tra: period: %w", err)
	}
	return nil
}
