package tasks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/message"
)

const (
	sweepLimit       = 200 // jobs of a class that one sweep checks
	sweepConcurrency = 8

	recheckRunning = time.Second      // after a check that found a step running
	recheckQueued  = 3 * time.Second  // after a check of an interactive job
	recheckBulk    = 10 * time.Second // after a check of a bulk job

	// A worker that takes a task claims its step within milliseconds. When the
	// step is still unclaimed after claimTimeout, the worker died in between.
	claimTimeout = 2 * time.Second
	// farClaimTimeout is the timeout of a step of the role authority. Its worker may be in another
	// country, behind a line that is full.
	farClaimTimeout = 6 * time.Second

	// MaxAttempts bounds how often a step is given to another worker, so that a
	// step that crashes its worker cannot crash all of them.
	MaxAttempts = 6
)

// Sweep checks the jobs that are due and recovers what crashed processes left
// behind: steps claimed by a worker that is gone, steps without a task, jobs that
// ended and were not finalized. Any number of workers may sweep at once. reliable
// reports, each time it is called, whether a missing heartbeat means that the
// worker is gone (jobs.Heartbeater). Sweep returns how many jobs it recovered,
// and whether more are due.
func (e *Engine) Sweep(ctx context.Context, class jobs.Class, reliable func() bool) (recovered int, more bool, err error) {
	due, err := e.options.Jobs.ListDue(ctx, class, sweepLimit, recheckQueued)
	if err != nil || len(due) == 0 {
		return 0, false, err
	}
	now, err := e.options.Jobs.Now(ctx)
	if err != nil {
		return 0, false, err
	}
	atOnce := sweepConcurrency
	if e.options.Sequential {
		atOnce = 1
	}
	var count atomic.Int64
	err = logs.Each(due, atOnce, func(id string) error {
		did, err := e.checkJob(ctx, id, class, check{now, reliable})
		if did {
			count.Add(1)
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
		return nil
	})
	return int(count.Load()), len(due) == sweepLimit, err
}

// check is what a sweep knows while it checks jobs.
type check struct {
	now      time.Time // by the clock of Redis
	reliable func() bool
}

// checkJob recovers one job and schedules its next check.
func (e *Engine) checkJob(ctx context.Context, id string, class jobs.Class, c check) (recovered bool, err error) {
	job, err := e.options.Jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return true, e.options.Jobs.RemoveActive(ctx, id, class)
	}
	if err != nil {
		return false, err
	}
	if job.Class != class { // it was promoted
		return false, e.options.Jobs.MoveToClass(ctx, id, class, job.Class)
	}
	if !job.State.Ended() && len(job.Steps) == 0 && len(job.Children) == 0 {
		return true, e.advanceFrom(ctx, job) // its creator crashed before it started the job
	}
	recheck := recheckQueued
	if class == jobs.Bulk {
		recheck = recheckBulk
	}
	recovered, suspect, err := e.recoverSteps(ctx, job, c)
	if err != nil {
		return recovered, err
	}
	if suspect {
		recheck = recheckRunning
	}
	if recovered { // the record has changed
		err = e.Advance(ctx, id)
	} else {
		err = e.advanceFrom(ctx, job)
	}
	if err != nil {
		return recovered, err
	}
	return recovered, e.options.Jobs.ScheduleCheck(ctx, id, class, recheck)
}

// recoverSteps recovers the steps of a job that has not ended, and ends a job
// that has waited for its children past its deadline. suspect reports that a step
// may be lost.
func (e *Engine) recoverSteps(ctx context.Context, job *jobs.Job, c check) (recovered, suspect bool, err error) {
	if job.State.Ended() {
		return false, false, nil
	}
	open := false
	for name, step := range job.Steps {
		if step.State == jobs.StepDone {
			continue
		}
		open = true
		did, maybe, err := e.recoverStep(ctx, job, name, c)
		recovered, suspect = recovered || did, suspect || maybe
		if err != nil {
			return recovered, suspect, err
		}
	}
	if !open && c.now.After(job.Deadline) && hasOpenChildren(job) {
		return true, false, e.failLost(ctx, job, "", "", TimedOut())
	}
	return recovered, suspect, nil
}

// hasOpenChildren reports whether a child of the job has not ended.
func hasOpenChildren(job *jobs.Job) bool {
	for _, child := range job.Children {
		if !child.State.Ended() {
			return true
		}
	}
	return false
}

// recoverStep ends a job that is past its deadline, makes the output of a step that
// needs no worker, or gives a lost step to another worker.
func (e *Engine) recoverStep(ctx context.Context, job *jobs.Job, name string, c check) (recovered, suspect bool, err error) {
	step := job.Steps[name]
	if step.State == jobs.StepReady && c.now.After(job.Deadline) {
		return true, false, e.failLost(ctx, job, name, "", timedOutAt(name))
	}
	if step.State == jobs.StepReady && e.options.Fallback != nil {
		if output, ok := e.options.Fallback(ctx, job, name); ok {
			_, err := e.Complete(ctx, job, name, output, Run{})
			return true, false, err
		}
	}
	lost, suspect, err := e.isLost(ctx, job, name, c)
	if !lost || err != nil {
		return false, suspect, err
	}
	if step.Attempt >= MaxAttempts {
		return true, false, e.failLost(ctx, job, name, step.Claim, &jobs.Error{Notice: message.New("error/worker_lost", nil)})
	}
	requeued, err := e.requeue(ctx, job, name, step)
	if requeued && e.options.OnTakeover != nil {
		e.options.OnTakeover(job, name)
	}
	return true, false, err
}

// failLost ends a job because no worker has done its step.
func (e *Engine) failLost(ctx context.Context, job *jobs.Job, step, claim string, failure *jobs.Error) error {
	ended, err := e.end(ctx, job, jobs.End{State: jobs.Failed, Error: failure, Step: step, Claim: claim})
	if ended != nil && e.options.OnLost != nil {
		e.options.OnLost(job, step, failure)
	}
	return err
}

// isClaimLost reports whether the run that has claimed a step is gone: its worker does not
// live any more, or is this process and does not run the step.
func (e *Engine) isClaimLost(ctx context.Context, step jobs.Step, c check) (lost, suspect bool, err error) {
	if e.options.IsRunning != nil {
		if own, running := e.options.IsRunning(step.Worker, step.Claim); own {
			return !running, true, nil
		}
	}
	if !c.reliable() {
		return false, true, nil
	}
	alive, err := e.options.Jobs.Alive(ctx, step.Worker)
	return !alive, true, err
}

// isLost reports whether no worker runs a step and no task will bring one.
// suspect reports that it looks so and that the job must be checked again soon.
func (e *Engine) isLost(ctx context.Context, job *jobs.Job, name string, c check) (lost, suspect bool, err error) {
	step := job.Steps[name]
	age := c.now.Sub(step.Since)
	policy, ok := policies[job.Kind+":"+name]
	if !ok {
		return false, false, fmt.Errorf("tasks: no such step %q", name)
	}
	if step.State == jobs.StepClaimed {
		if age > policy.Timeout+2*timeoutMargin { // the worker did not release its claim
			return true, false, nil
		}
		return e.isClaimLost(ctx, step, c)
	}
	if age < claimTimeout {
		return false, false, nil
	}
	info, err := e.inspector.GetTaskInfo(queueOf(policy, job.Class), taskID(job.ID, name, step.Attempt))
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
		return false, false, nil // Advance enqueues it
	case err != nil:
		return false, false, err
	}
	switch info.State {
	case asynq.TaskStateArchived, asynq.TaskStateCompleted:
		return true, false, nil
	case asynq.TaskStateActive:
		unclaimed, err := e.options.Jobs.UnclaimedFor(ctx, job.ID, name, step.Attempt)
		// This says so of Redis, not of a worker: it has had the task all this time.
		limit := claimTimeout
		if policy.Queue == QueueAuthority {
			limit = farClaimTimeout
		}
		return unclaimed > limit, true, err
	default: // the task waits
		return false, false, nil
	}
}

const (
	// archivedFor is how long an archived task stays for the operator to see.
	archivedFor = 7 * 24 * time.Hour
	// tidyLimit is how many archived tasks of a queue are deleted at once.
	tidyLimit = 500
)

// scriptRecoverActive returns tasks to their queue that asynq counts as active although no
// worker has a lease on them: asynq itself never looks at those (hibiken/asynq issue 1144). It
// forgets those that have no record. asynq makes an entry and its lease in one step. KEYS:
// active, lease and pending of a queue. ARGV: what the keys of its tasks begin with. It returns
// their number.
var scriptRecoverActive = redis.NewScript(`
local found = 0
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if not redis.call('ZSCORE', KEYS[2], id) then
    found = found + 1
    redis.call('LREM', KEYS[1], 0, id)
    if redis.call('EXISTS', ARGV[1] .. id) == 1 then
      redis.call('RPUSH', KEYS[3], id)
      redis.call('HSET', ARGV[1] .. id, 'state', 'pending')
    end
  end
end
return found
`)

// TidyQueues recovers active tasks without a lease, and deletes tasks that were archived a
// week ago, in all queues that exist. Any number of processes may do so.
func (e *Engine) TidyQueues(ctx context.Context) error {
	queues, err := e.inspector.Queues()
	if err != nil {
		return fmt.Errorf("tasks: queues: %w", err)
	}
	errs := make([]error, 0, len(queues))
	for _, queue := range queues {
		errs = append(errs, e.tidyQueue(ctx, queue))
	}
	return errors.Join(errs...)
}

func (e *Engine) tidyQueue(ctx context.Context, queue string) error {
	base := "asynq:{" + queue + "}:"
	keys := []string{base + "active", base + "lease", base + "pending"}
	recovered, err := scriptRecoverActive.Run(ctx, e.options.Redis, keys, base+"t:").Int()
	if err != nil {
		return fmt.Errorf("tasks: active tasks of %s: %w", queue, err)
	}
	if recovered > 0 {
		e.announce(ctx, queue)
	}
	ids, err := e.options.Redis.ZRangeByScore(ctx, base+"archived", &redis.ZRangeBy{
		Min: "-inf", Max: strconv.FormatInt(time.Now().Add(-archivedFor).Unix(), 10), Count: tidyLimit,
	}).Result()
	if err != nil {
		return fmt.Errorf("tasks: archived tasks of %s: %w", queue, err)
	}
	for _, id := range ids {
		if err := e.inspector.DeleteTask(queue, id); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
			return fmt.Errorf("tasks: archived task of %s: %w", queue, err)
		}
	}
	return nil
}
