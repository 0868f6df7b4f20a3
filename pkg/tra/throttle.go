package tra

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

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

// Calls for batches may use this part of the rate; the rest is for people, so that none of
// their calls waits behind a batch.
const partOfBatches = 0.9

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
