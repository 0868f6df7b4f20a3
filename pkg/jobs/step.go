package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ushuru/pkg/redisx"
)

// ClaimResult says what a handler must do with a task.
type ClaimResult string

// The results of Claim.
const (
	Claimed     ClaimResult = "run"     // run the step
	AlreadyDone ClaimResult = "done"    // the output is stored already: advance the job
	Stale       ClaimResult = "stale"   // a later attempt has the step: return
	JobEnded    ClaimResult = "ended"   // the job has ended: return
	NotFound    ClaimResult = "missing" // the job does not exist any more: return
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

// Claim claims a step for one run of a handler. The same attempt may be claimed
// again, since asynq may deliver a task twice; an earlier attempt may not. With
// Claimed it returns the record as it is afterwards.
func (s *Store) Claim(ctx context.Context, id, step string, attempt int, worker, claim string) (ClaimResult, *Job, error) {
	reply, err := scriptClaim.Run(ctx, s.redis, []string{keyJob(id)}, step, attempt, worker, claim).Slice()
	if err != nil {
		return "", nil, err
	}
	result, _ := reply[0].(string)
	if ClaimResult(result) != Claimed {
		return ClaimResult(result), nil, nil
	}
	job, err := parseReply(id, reply[1])
	return Claimed, job, err
}

// Release gives back what a run has claimed, so that it is retried later. With
// countsAsRetry the step's count of retries rises by one. A claim that is no
// longer valid changes nothing.
func (s *Store) Release(ctx context.Context, id, claim string, countsAsRetry bool) error {
	return scriptRelease.Run(ctx, s.redis, []string{keyJob(id)}, claim, countsAsRetry).Err()
}

// Requeue raises the attempt of a step whose worker or task is lost and returns
// the new attempt; 0 when the step is no longer as it was seen.
func (s *Store) Requeue(ctx context.Context, id, step string, seen Step) (int, error) {
	return scriptRequeue.Run(ctx, s.redis, []string{keyJob(id)},
		step, seen.Attempt, string(seen.State), seen.Claim).Int()
}

// UnclaimedFor returns for how long the task of a ready step has been seen with a
// worker that has not claimed the step. The first call returns 0, and so does the
// first call after a claim.
func (s *Store) UnclaimedFor(ctx context.Context, id, step string, attempt int) (time.Duration, error) {
	ms, err := scriptUnclaimed.Run(ctx, s.redis, []string{keyJob(id)}, step, attempt).Int64()
	return time.Duration(ms) * time.Millisecond, err
}

// Completed is the outcome of Complete.
type Completed struct {
	// Accepted means that the output was stored and the next steps were opened
	// with it, at their first attempt. Otherwise another run was faster or the
	// job has ended: read the record.
	Accepted bool
	Promoted bool // when accepted: an interactive request has joined the bulk job
}

// Complete stores the output of a step and opens the next steps. The first output
// stays: a second one, and one for a job that has ended, is discarded without an
// error. With a claim it claims the next steps for that run of a handler, which goes on with
// them; the same run may call it again when the reply was lost.
func (s *Store) Complete(
	ctx context.Context, id, step string, output json.RawMessage, worker, claim string, next ...string,
) (Completed, error) {
	args := append(make([]any, 0, 4+len(next)), step, redisx.Pack(output), worker, claim)
	for _, opened := range next {
		args = append(args, opened)
	}
	reply, err := scriptComplete.Run(ctx, s.redis, []string{keyJob(id)}, args...).Int64Slice()
	if err != nil {
		return Completed{}, err
	}
	return Completed{Accepted: reply[0] == 1, Promoted: reply[1] == 1}, nil
}
