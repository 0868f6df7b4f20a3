package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ushuru/pkg/pack"
)

// ClaimResult says what a handler is to do with a task.
type ClaimResult string

// The verdicts.
const (
	Claimed     ClaimResult = "run"     // do the work
	AlreadyDone ClaimResult = "done"    // the output is there already: only go on
	Stale       ClaimResult = "stale"   // the step was given to a later attempt: return
	JobEnded    ClaimResult = "ended"   // the job has ended: return
	NotFound    ClaimResult = "missing" // there is no such job any more: return
)

// Open makes a step ready, once, and returns its state and attempt. The attempt
// is 0 when the job has ended. It returns ErrNotFound when there is no such job.
func (s *Store) Open(ctx context.Context, id, step string) (Step, error) {
	reply, err := scriptOpen.Run(ctx, s.redis, []string{keyJob(id)}, step).Slice()
	if err != nil {
		return Step{}, err
	}
	state, okState := reply[0].(string)
	attempt, okAttempt := reply[1].(int64)
	if !okState || !okAttempt {
		return Step{}, fmt.Errorf("jobs: open: unexpected reply %v", reply)
	}
	if state == string(NotFound) {
		return Step{}, ErrNotFound
	}
	return Step{State: StepState(state), Attempt: int(attempt)}, nil
}

// Claim asks to run a step. The same attempt may be claimed again, since the
// queue may deliver a task twice; an earlier attempt may not. With the verdict
// Run comes the record as it then stands.
func (s *Store) Claim(ctx context.Context, id, step string, attempt int, worker, claim string) (ClaimResult, *Job, error) {
	reply, err := scriptClaim.Run(ctx, s.redis, []string{keyJob(id)}, step, attempt, worker, claim).Slice()
	if err != nil {
		return "", nil, err
	}
	verdict, _ := reply[0].(string)
	if ClaimResult(verdict) != Claimed {
		return ClaimResult(verdict), nil, nil
	}
	list, _ := reply[1].([]any)
	fields := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		name, _ := list[i].(string)
		fields[name], _ = list[i+1].(string)
	}
	job, err := parse(id, fields)
	return Claimed, job, err
}

// Release gives a claimed step back, so that it is retried later. With
// countsAsRetry the step's count of retries rises by one. A claim that is no
// longer valid changes nothing.
func (s *Store) Release(ctx context.Context, id, step, claim string, countsAsRetry bool) error {
	return scriptRelease.Run(ctx, s.redis, []string{keyJob(id)}, step, claim, countsAsRetry).Err()
}

// Requeue raises the attempt of a step whose worker or task is lost and
// returns it; 0 when the step is no longer as it was seen.
func (s *Store) Requeue(ctx context.Context, id, step string, seen Step) (int, error) {
	return scriptRequeue.Run(ctx, s.redis, []string{keyJob(id)},
		step, seen.Attempt, string(seen.State), seen.Claim).Int()
}

// UnclaimedFor says of a ready step whose task the queue has given out: how long ago
// that was first seen. Once the step is claimed it begins anew.
func (s *Store) UnclaimedFor(ctx context.Context, id, step string, attempt int) (time.Duration, error) {
	ms, err := scriptUnclaimed.Run(ctx, s.redis, []string{keyJob(id)}, step, attempt).Int64()
	return time.Duration(ms) * time.Millisecond, err
}

// Completed is what came of storing an output.
type Completed struct {
	// Accepted means that the output is the one that stays, and that the steps
	// that are next were opened with it, at their first attempt. Otherwise
	// somebody else was faster, or the job has ended: look at the record.
	Accepted bool
	Promoted bool // when it is the first: a person waits for the job by now
}

// Complete stores the output of a step and opens the steps that are next. The
// first output stays; a second is dropped without an error, and so is one for
// a job that has ended.
func (s *Store) Complete(ctx context.Context, id, step string, output json.RawMessage, next ...string) (Completed, error) {
	args := append(make([]any, 0, 2+len(next)), step, []byte(output))
	for _, opened := range next {
		args = append(args, opened)
	}
	reply, err := scriptComplete.Run(ctx, s.redis, []string{keyJob(id)}, args...).Int64Slice()
	if err != nil {
		return Completed{}, err
	}
	return Completed{Accepted: reply[0] == 1, Promoted: reply[1] == 1}, nil
}

// Succeed ends a job with its result and returns when that was; zero when it
// had ended before.
func (s *Store) Succeed(ctx context.Context, id string, result json.RawMessage) (time.Time, error) {
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
	at, err := s.end(ctx, id, Failed, "error", data, step, claim)
	return !at.IsZero(), err
}

// Cancel ends a job without a result. Runs that are at it find out when they
// store their output.
func (s *Store) Cancel(ctx context.Context, id string) (bool, error) {
	at, err := s.end(ctx, id, Cancelled, "", nil, "", "")
	return !at.IsZero(), err
}

// end returns when it ended the job; zero when it did not.
func (s *Store) end(
	ctx context.Context, id string, state State, field string, data []byte, step, claim string,
) (time.Time, error) {
	ms, err := scriptEnd.Run(ctx, s.redis, []string{keyJob(id)},
		string(state), field, data, retention.Milliseconds(), step, claim).Int64()
	if err != nil || ms == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(ms).UTC(), nil
}

// PublishEnd lets go of the flight of a job that has ended, tells the callers
// who wait for it, and returns the parents that are still to be told. It may
// be done twice; the job is looked at until Settled.
func (s *Store) PublishEnd(ctx context.Context, job *Job) (parents []string, err error) {
	grace := time.Duration(0)
	if job.State == Succeeded {
		grace = joinGrace
	}
	pipe := s.redis.Pipeline()
	scriptReleaseKey.Eval(ctx, pipe, []string{keyDedup(job.DedupKey)}, job.ID, grace.Milliseconds())
	pipe.Publish(ctx, channelEnded, job.ID)
	members := pipe.SMembers(ctx, keySubscribers(job.ID))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	return members.Val(), nil
}

// MarkFinalized notes that everybody was told of a job's end: it is not looked at
// any more. Of a bulk job that no caller asked for no more is kept than its
// result: there are thousands of these, and who wanted it has that. A caller
// who joined it may have been told of it.
func (s *Store) MarkFinalized(ctx context.Context, job *Job) error {
	pipe := s.redis.Pipeline()
	if job.Class == Bulk && !job.RequestedByCaller {
		scriptTrim.Eval(ctx, pipe, []string{keyJob(job.ID)}, trimmedTTL.Milliseconds())
	}
	pipe.Del(ctx, keySubscribers(job.ID))
	pipe.ZRem(ctx, keyActive(job.Class), job.ID)
	_, err := pipe.Exec(ctx)
	return err
}

// ListDue hands out up to limit jobs of a class that are due for a look, each to
// one caller. Whoever gets one has hold to deal with it and say when to look
// again (Watch); after that it is due again.
func (s *Store) ListDue(ctx context.Context, class Class, limit int, hold time.Duration) ([]string, error) {
	return scriptListDue.Run(ctx, s.redis, []string{keyActive(class)}, limit, hold.Milliseconds()).StringSlice()
}

// Now is the time by the clock of Redis, which the times in a record are.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return s.redis.Time(ctx).Result()
}

// ScheduleCheck says when an active job is to be looked at next.
func (s *Store) ScheduleCheck(ctx context.Context, id string, class Class, after time.Duration) error {
	return s.scheduleCheck(ctx, id, class, after, "XX")
}

func (s *Store) scheduleCheck(ctx context.Context, id string, class Class, after time.Duration, mode string) error {
	return scriptSchedule.Run(ctx, s.redis, []string{keyActive(class)}, id, after.Milliseconds(), mode).Err()
}

// RemoveActive drops a job from those to look at: its record is gone, or it is in
// another class now.
func (s *Store) RemoveActive(ctx context.Context, id string, class Class) error {
	return s.redis.ZRem(ctx, keyActive(class), id).Err()
}
