package tra

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// AuthorityOptions of an Authority. The zero value is good for production,
// except that PerSecond should be set.
type AuthorityOptions struct {
	PerSecond int // maximum calls per second of all processes together; 0 means no limit
	// RateWait is how long a call may wait for the rate limit before it is a
	// *ThrottleError; default 0. A worker far away from Redis loses more time when the
	// step is snoozed than when it waits.
	RateWait time.Duration

	BreakerFailures uint32        // number of consecutive outages that open the breaker; default 10
	BreakerTimeout  time.Duration // how long the breaker stays open; default 60 s
	EmptyListTTL    time.Duration // how long an empty list is cached; default 10 min

	// Retries is the maximum number of retries of a call that fails quickly: an
	// estimate needs five calls, and the catalogue one for each make. 0 disables
	// retries.
	Retries int

	// OnCall, if not nil, is called after every call, for metrics. The error is
	// nil, a *Error, or that of a context that ended.
	OnCall func(call string, took time.Duration, err error)
	// OnThrottle, if not nil, is called for every call that was not made.
	OnThrottle func(reason Reason)
	// OnBreaker, if not nil, is called with the new state of the breaker when it changes:
	// closed, half-open or open.
	OnBreaker func(state string)

	// Log gets the errors that an operator must know of; nil discards them.
	Log *slog.Logger

	// OnAnswer, if not nil, is called for every calculation of the authority that
	// was not cached and is plausible.
	OnAnswer func(ctx context.Context, request Request, tax vehicle.Tax)
}

// Request identifies a calculation: the vehicle, and its make by name.
type Request struct {
	catalogue.Vehicle
	Make string `json:"make"`
}

// Authority is the Client behind a rate limit, a breaker and a cache that all
// processes share. It also updates the status. Answers are cached by their exact
// arguments, with the name of the make instead of its id, until the end of the
// quarter or until the authority shows a later quarter.
type Authority struct {
	client         *Client
	store          *Store
	options        AuthorityOptions
	throttle       throttle
	calls          singleflight.Group
	statusRecorder statusRecorder
	lastReset      atomic.Pointer[string] // of the breakers; nil before the first Alive
}

// NewAuthority returns an Authority that calls the client. It uses the clock and
// the Redis client of the store.
func NewAuthority(client *Client, store *Store, o AuthorityOptions) *Authority {
	// With five, the breaker would open every four hundred calls for an authority
	// that fails three calls in ten.
	o.BreakerFailures = cmp.Or(o.BreakerFailures, 10)
	o.BreakerTimeout = cmp.Or(o.BreakerTimeout, time.Minute)
	o.EmptyListTTL = cmp.Or(o.EmptyListTTL, 10*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Authority{client: client, store: store, options: o, throttle: throttle{
		rates: pace.NewRates(store.redis), perSecond: o.PerSecond, wait: o.RateWait,
		Breaker: pace.NewBreaker(pace.BreakerOptions{
			Failures: o.BreakerFailures, Timeout: o.BreakerTimeout, IsOutage: isOutage, OnChange: o.OnBreaker,
		}),
	}}
}

// Makes returns the makes. It is not cached, because the Store has the catalogue.
func (a *Authority) Makes(ctx context.Context) ([]catalogue.Make, error) {
	return call(ctx, a, callMakes, func(ctx context.Context) ([]catalogue.Make, error) { return a.client.Makes(ctx) })
}

// ModelBodies returns the labels of a make. It is not cached, because the Store
// has the catalogue.
func (a *Authority) ModelBodies(ctx context.Context, makeID int) ([]string, error) {
	return call(ctx, a, callModelBody, func(ctx context.Context) ([]string, error) { return a.client.ModelBodies(ctx, makeID) })
}

// List returns the values of the first empty field of a vehicle of the make m, as Client.List
// does. It uses the id of m, not that of v.
func (a *Authority) List(ctx context.Context, m catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	v.MakeID = m.ID
	got, err := cached(ctx, a, requestOf(m, v), func(ctx context.Context) ([]string, time.Duration, error) {
		list, err := a.client.List(ctx, v)
		if len(list) == 0 { // an empty list is valid for a short time only
			return list, a.options.EmptyListTTL, err
		}
		return list, 0, err
	}, nil)
	return got.Answer, err
}

// Calculation is the authority's tax on one vehicle.
type Calculation struct {
	Tax      vehicle.Tax
	Warnings []vehicle.Warning // doubts about the figures
	At       time.Time         // when the authority calculated them, also for a cached answer

	Stale bool // the figures have expired, and a warning says so
}

// Details returns the tax on one vehicle. It uses the id of the make m, not that
// of v.
func (a *Authority) Details(ctx context.Context, m catalogue.Make, v catalogue.Vehicle) (Calculation, error) {
	v.MakeID = m.ID
	got, err := cached(ctx, a, requestOf(m, v), a.calculation(v), func(ctx context.Context, answer calculation) {
		if a.options.OnAnswer != nil {
			a.options.OnAnswer(ctx, Request{v, m.Name}, answer.Tax)
		}
	})
	if err != nil {
		return Calculation{}, err
	}
	return calculationOf(got), nil
}

// calculationOf returns an answer with the warnings about it.
func calculationOf(got cachedAnswer[calculation]) Calculation {
	warnings := got.Answer.Warnings
	if !got.fresh {
		day := message.Values{"date": got.At.In(localtime.Zone).Format(time.DateOnly)}
		warnings = append(slices.Clone(warnings), message.New("warning/"+WarnStale, day))
	}
	return Calculation{got.Answer.Tax, warnings, got.At, !got.fresh}
}

// calculation is the cached answer about one vehicle.
type calculation struct {
	Tax      vehicle.Tax       `json:"tax"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
}

// calculation returns the function that requests a calculation.
func (a *Authority) calculation(v catalogue.Vehicle) func(context.Context) (calculation, time.Duration, error) {
	attempts := 0
	return func(ctx context.Context) (calculation, time.Duration, error) {
		tax, warnings, err := a.client.Details(ctx, v)
		if err != nil {
			return calculation{}, 0, err
		}
		reason := ""
		if a.store.options.Implausible != nil {
			reason = a.store.options.Implausible(tax, a.store.options.Now())
		}
		if reason == "" {
			return calculation{Tax: tax, Warnings: warnings}, 0, nil
		}
		a.options.Log.ErrorContext(ctx, "TRA's calculator gave figures that cannot be right",
			"reason", reason, "vehicle", v, "reference", tax.ReferenceNumber, "attempt", attempts+1)
		why := errStaysImplausible
		if attempts++; attempts <= min(maxImplausible, a.options.Retries) {
			why = errImplausible
		}
		return calculation{}, 0, &Error{Kind: BadAnswer, Call: callDetails, Status: 200, cause: why}
	}
}

// maxImplausible is how often implausible figures are requested again, with the
// retries of calls as a bound.
const maxImplausible = 2

var (
	// errImplausible is the cause of the failure of a call whose figures cannot be
	// right, as long as the call is repeated.
	errImplausible = errors.New("figures that cannot be right")
	// errStaysImplausible is that of the last such call.
	errStaysImplausible = errors.New("figures that cannot be right, and stayed so")
)

// IsImplausible reports whether a call failed because the authority's figures cannot be
// right, also when they were requested again.
func IsImplausible(err error) bool { return errors.Is(err, errStaysImplausible) }

// period returns the year and quarter that a calculation of now is of. A year that is
// neither this one nor next to it is no period, and returns 0: it would make every
// stored answer stale.
func (c calculation) period(now time.Time) int {
	if year := now.In(localtime.Zone).Year(); c.Tax.Year < year-1 || c.Tax.Year > year+1 {
		return 0
	}
	return periodOf(c.Tax)
}

// call makes one call behind the throttle, with retries.
func call[T any](ctx context.Context, a *Authority, name string, fetch func(context.Context) (T, error)) (result T, _ error) {
	var took time.Duration
	policy := pace.Backoff{
		InitialDelay: retryDelay, MaxAttempts: a.options.Retries + 1,
		IsPermanent: func(err error) bool { return !isRetryable(took, err) },
	}
	err := pace.Retry(ctx, policy, func() (err error) {
		result, took, err = callOnce(ctx, a, name, fetch)
		return err
	})
	return result, err
}

const (
	retryDelay  = 100 * time.Millisecond // before the first retry
	retryWindow = 2 * time.Second        // a call that took longer means that the authority is overloaded
)

// isRetryable reports whether a call may be retried: it failed quickly, with a
// temporary error and without Retry-After.
func isRetryable(took time.Duration, err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && (failure.Temporary() || errors.Is(err, errImplausible)) && failure.RetryAfter == 0 && took < retryWindow
}

// callOnce makes one call behind the throttle and records its outcome.
func callOnce[T any](
	ctx context.Context, a *Authority, name string, fetch func(context.Context) (T, error),
) (_ T, took time.Duration, _ error) {
	called := false
	result, err := a.throttle.allow(ctx, isForBatch(ctx), func() (any, error) {
		called = true
		start := time.Now()
		result, err := fetch(ctx)
		took = time.Since(start)
		return result, err
	})
	if throttled, ok := errors.AsType[*ThrottleError](err); ok && a.options.OnThrottle != nil {
		a.options.OnThrottle(throttled.Reason)
	}
	if called {
		if a.options.OnCall != nil {
			a.options.OnCall(name, took, err)
		}
		a.logCall(ctx, name, took, err)
		a.recordRefusal(ctx, name, err)
		a.recordCall(ctx, took, err) // after the breaker has counted the call
	}
	typed, _ := result.(T)
	return typed, took, err
}

// logCall logs a call that failed. That the authority has no such vehicle is an answer, to
// the caller's question.
func (a *Authority) logCall(ctx context.Context, name string, took time.Duration, err error) {
	failed, ok := errors.AsType[*Error](err)
	if !ok || failed.Kind == Refused { // which recordRefusal logs
		return
	}
	level := slog.LevelError
	if failed.Kind == NoSuchVehicle {
		level = slog.LevelDebug
	}
	cause := failed.Error()
	if failed.cause != nil {
		cause = failed.cause.Error()
	}
	a.options.Log.Log(ctx, level, "call to TRA's calculator failed", "call", name, "error_kind", string(failed.Kind),
		"status", failed.Status, "cause", cause, "answer", failed.excerpt, "retry_after", failed.RetryAfter, "duration", took)
}

// recordRefusal pauses this process when the authority refused its call, and ends
// the pause after any other answer.
func (a *Authority) recordRefusal(ctx context.Context, name string, err error) {
	kind := KindOf(err)
	if kind == "" && err != nil || kind == Unavailable {
		return // not an answer of the authority
	}
	if pause := a.throttle.Record(kind == Refused); pause > 0 {
		a.options.Log.ErrorContext(ctx,
			"TRA's calculator refuses requests from this worker; it answers addresses in Tanzania only",
			"call", name, "pause", pause, "error", err)
	}
}

// isOutage reports whether an error means that the authority is not available.
// The breaker counts only such errors.
func isOutage(err error) bool {
	kind := KindOf(err)
	return kind == Unavailable || kind == Refused
}

type batchKey struct{}

// ForBatch says that the calls of a context are for a batch: they leave a part of the
// rate limit to those for people.
func ForBatch(ctx context.Context) context.Context { return context.WithValue(ctx, batchKey{}, true) }

func isForBatch(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }

// Reason says why a call was not made.
type Reason string

// The reasons.
const (
	RateUsedUp  Reason = "rate"    // the calls per second of all processes are used up
	BreakerOpen Reason = "breaker" // the breaker is open after too many consecutive outages
	JustRefused Reason = "refused" // the authority has just refused this process, perhaps for its address
)

// ThrottleError means that a call was not made. It is not a failure of the call: the caller
// should try again after RetryAfter, without using up a retry.
type ThrottleError struct {
	RetryAfter time.Duration
	Reason     Reason
}

func (e *ThrottleError) Error() string {
	return fmt.Sprintf("tra: no call before %s (%s)", e.RetryAfter.Round(time.Millisecond), e.Reason)
}

// throttle stands before every call to the authority: a breaker, and the rate of all
// processes together, of which people and each key have their share.
type throttle struct {
	*pace.Breaker

	rates     *pace.Rates
	perSecond int           // 0 means no limit
	wait      time.Duration // how long a call may wait for the rate
	waiting   atomic.Int64  // calls of this process that wait for the rate
}

// allow makes a call, of a batch or for a person, unless it must wait, which is a
// *ThrottleError. The breaker counts how it ends.
func (t *throttle) allow(ctx context.Context, bulk bool, call func() (any, error)) (any, error) {
	result, err := t.Call(func() (any, error) {
		if err := t.take(ctx, limitsOf(ctx, bulk, float64(t.perSecond))); err != nil {
			return nil, err
		}
		return call()
	})
	if open, ok := errors.AsType[*pace.OpenError](err); ok {
		reason := BreakerOpen
		if open.Refused {
			reason = JustRefused
		}
		return nil, &ThrottleError{open.RetryAfter, reason}
	}
	return result, err
}

// take counts a call against limits, and waits for them as long as a call may. Calls of
// this process that wait ask again one after the other, at the rate.
func (t *throttle) take(ctx context.Context, limits []pace.Limit) error {
	if t.perSecond <= 0 {
		return nil
	}
	deadline := time.Now().Add(t.wait)
	for first := true; ; first = false {
		allowance, err := t.rates.Take(ctx, limits...)
		if err != nil || allowance.Allowed {
			return err
		}
		wait := allowance.RetryAfter
		if time.Now().Add(wait).After(deadline) {
			return &ThrottleError{RetryAfter: wait, Reason: RateUsedUp}
		}
		ahead := t.waiting.Add(1) - 1
		if first {
			wait = min(wait+time.Duration(ahead)*time.Second/time.Duration(t.perSecond), time.Until(deadline))
		}
		err = pace.Sleep(ctx, wait)
		t.waiting.Add(-1)
		if err != nil {
			return err
		}
	}
}

// limitsOf returns the limits of a call: the rate of all calls, and of it the part of
// batches, or for a person the share of one key.
func limitsOf(ctx context.Context, bulk bool, perSecond float64) []pace.Limit {
	all := pace.Limit{Key: "rate:{tra}", Rate: perSecond, Burst: int(perSecond)}
	owner := pace.Owner(ctx)
	switch {
	case bulk:
		owner, perSecond = "bulk", perSecond*partOfBatches
	case owner != "":
		perSecond = pace.Share(owner, perSecond)
	default:
		return []pace.Limit{all}
	}
	return []pace.Limit{all, {Key: "rate:{tra}:" + owner, Rate: perSecond, Burst: max(int(perSecond), 1)}}
}

// Calls for batches may use this part of the rate; the rest is for people, so that none of
// their calls waits behind a batch.
const partOfBatches = 0.9

const (
	keyReset = "tra:reset" // names the last reset of the breakers that an operator requested
	resetTTL = time.Hour
)

// ResetBreakers has every worker that calls the authority close its breaker and end its
// pause after refusals, within WorkerInterval.
func (s *Store) ResetBreakers(ctx context.Context) error {
	return failed(s.redis.Set(ctx, keyReset, rand.Text(), resetTTL).Err(), "reset the breakers")
}

// WorkerAlive records that a worker that calls the authority is alive. It returns the name
// of the last reset of the breakers, "" for none.
func (s *Store) WorkerAlive(ctx context.Context) (reset string, err error) {
	pipe := s.redis.Pipeline()
	pipe.Set(ctx, keyWorkerAlive, 1, workerTTL)
	last := pipe.Get(ctx, keyReset)
	if err := redisx.Exec(ctx, pipe); err != nil {
		return "", fmt.Errorf("tra: heartbeat: %w", err)
	}
	return last.Val(), nil
}

// Alive records that the worker is alive, and closes its breaker when an operator has
// requested that since the last call.
func (a *Authority) Alive(ctx context.Context) error {
	reset, err := a.store.WorkerAlive(ctx)
	if err != nil {
		return err
	}
	before := a.lastReset.Swap(&reset)
	if before == nil || reset == "" || *before == reset {
		return nil
	}
	a.throttle.Reset()
	a.options.Log.WarnContext(ctx, "the breaker of TRA's calculator was reset by an operator")
	// Without it the status would say until the next call that the authority cannot be asked.
	return failed(a.store.redis.HSet(ctx, keyStatus, fieldBreaker, a.throttle.State().String()).Err(), "record status")
}
