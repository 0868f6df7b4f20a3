package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ushuru/pkg/pack"
)

// Verdict says what a handler is to do with a task.
type Verdict string

// The verdicts.
const (
	Run     Verdict = "run"     // do the work
	Done    Verdict = "done"    // the output is there already: only go on
	Stale   Verdict = "stale"   // the step was given to a later attempt: return
	Over    Verdict = "ended"   // the job has ended: return
	Missing Verdict = "missing" // there is no such job any more: return
)

// Open makes a step ready, once, and returns how it stands. A step of a job
// that has ended or is gone is returned with attempt 0.
func (s *Store) Open(ctx context.Context, id, step string) (StepState, int, error) {
	reply, err := scriptOpen.Run(ctx, s.redis, []string{keyJob(id)}, step).Slice()
	if err != nil {
		return "", 0, err
	}
	state, okState := reply[0].(string)
	attempt, okAttempt := reply[1].(int64)
	if !okState || !okAttempt {
		return "", 0, fmt.Errorf("jobs: open: unexpected reply %v", reply)
	}
	return StepState(state), int(attempt), nil
}

// Claim asks to run a step. The same attempt may be claimed again, since the
// queue may deliver a task twice; an earlier attempt may not.
func (s *Store) Claim(ctx context.Context, id, step string, attempt int, worker, claim string) (Verdict, error) {
	reply, err := scriptClaim.Run(ctx, s.redis, []string{keyJob(id)}, step, attempt, worker, claim).Text()
	return Verdict(reply), err
}

// Release gives a claimed step back, to be tried again later.
func (s *Store) Release(ctx context.Context, id, step, claim string) error {
	return scriptRelease.Run(ctx, s.redis, []string{keyJob(id)}, step, claim).Err()
}

// Restart raises the attempt of a step whose worker or task is lost and
// returns it; 0 when the step is no longer as it was seen.
func (s *Store) Restart(ctx context.Context, id, step string, seen Step) (int, error) {
	return scriptRestart.Run(ctx, s.redis, []string{keyJob(id)},
		step, seen.Attempt, string(seen.State), seen.Claim).Int()
}

// Idle says of a ready step whose task the queue has given out: how long ago
// that was first seen. Once the step is claimed it begins anew.
func (s *Store) Idle(ctx context.Context, id, step string, attempt int) (time.Duration, error) {
	ms, err := scriptIdle.Run(ctx, s.redis, []string{keyJob(id)}, step, attempt).Int64()
	return time.Duration(ms) * time.Millisecond, err
}

// Complete stores the output of a step. The first output stays; a second is
// dropped without an error, and so is one for a job that has ended.
func (s *Store) Complete(ctx context.Context, id, step string, output json.RawMessage) error {
	return scriptComplete.Run(ctx, s.redis, []string{keyJob(id)}, step, []byte(output)).Err()
}

// Succeed ends a job with its result. False when it had ended before.
func (s *Store) Succeed(ctx context.Context, id string, result json.RawMessage) (bool, error) {
	return s.end(ctx, id, Succeeded, "result", pack.Pack(result), "", "")
}

// Fail ends a job with an error on the word of the run that holds the claim
// on a step; with an empty claim, on the sweeper's. False when the job had
// ended before or the step was given to somebody else.
func (s *Store) Fail(ctx context.Context, id, step, claim string, failure *Error) (bool, error) {
	data, err := json.Marshal(failure)
	if err != nil {
		return false, err
	}
	return s.end(ctx, id, Failed, "error", data, step, claim)
}

// Cancel ends a job without a result. Runs that are at it find out when they
// store their output.
func (s *Store) Cancel(ctx context.Context, id string) (bool, error) {
	return s.end(ctx, id, Cancelled, "", nil, "", "")
}

func (s *Store) end(ctx context.Context, id string, state State, field string, data []byte, step, claim string) (bool, error) {
	return scriptEnd.Run(ctx, s.redis, []string{keyJob(id)},
		string(state), field, data, retention.Milliseconds(), step, claim).Bool()
}

// Announce lets go of the flight of a job that has ended, tells the callers
// who wait for it, and returns the parents that are still to be told. It may
// be done twice; the job is looked at until Forget.
func (s *Store) Announce(ctx context.Context, job *Job) (parents []string, err error) {
	grace := time.Duration(0)
	if job.State == Succeeded {
		grace = answeredGrace
	}
	err = scriptLeave.Run(ctx, s.redis, []string{keyFlight(job.Flight)}, job.ID, grace.Milliseconds()).Err()
	if err != nil {
		return nil, err
	}
	pipe := s.redis.Pipeline()
	pipe.Publish(ctx, channelEnded, job.ID)
	members := pipe.SMembers(ctx, keyParents(job.ID))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	return members.Val(), nil
}

// Shed keeps of a job that has ended no more than its result: a caller who
// joined it may have been told of it.
func (s *Store) Shed(ctx context.Context, id string) error {
	return scriptShed.Run(ctx, s.redis, []string{keyJob(id)}, shedLife.Milliseconds()).Err()
}

// Due hands out up to limit jobs of a class that are due for a look, each to
// one caller. Whoever gets one has hold to deal with it and say when to look
// again (Watch); after that it is due again.
func (s *Store) Due(ctx context.Context, class Class, limit int, hold time.Duration) ([]string, error) {
	return scriptDue.Run(ctx, s.redis, []string{keyActive(class)}, limit, hold.Milliseconds()).StringSlice()
}

// Now is the time by the clock of Redis, which the times in a record are.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return s.redis.Time(ctx).Result()
}

// Watch says when an active job is to be looked at next.
func (s *Store) Watch(ctx context.Context, id string, class Class, after time.Duration) error {
	return s.watch(ctx, id, class, after, "XX")
}

func (s *Store) watch(ctx context.Context, id string, class Class, after time.Duration, mode string) error {
	return scriptWatch.Run(ctx, s.redis, []string{keyActive(class)}, id, after.Milliseconds(), mode).Err()
}

// Forget drops a job from those to look at: it has ended and everybody was
// told, or its record is gone.
func (s *Store) Forget(ctx context.Context, id string, class Class) error {
	return s.redis.ZRem(ctx, keyActive(class), id).Err()
}
