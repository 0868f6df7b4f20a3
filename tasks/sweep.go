package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"golang.org/x/sync/errgroup"

	"ushuru/pkg/jobs"
)

const (
	sweepLimit       = 200              // jobs of a class looked at in one sweep
	sweepConcurrency = 8                // of these, at the same time
	recheckRunning   = time.Second      // a step is being run
	recheckQueued    = 3 * time.Second  // a step waits in the queue, and a person for it
	recheckBulk      = 10 * time.Second // a step waits in the queue for a batch

	// A task that the queue has given to a worker is claimed within
	// milliseconds. Not so after unclaimed: the worker died in between.
	claimTimeout = 2 * time.Second

	// MaxAttempts bounds how often a step is given to another worker: a step
	// that takes its worker down every time must not take all of them down.
	MaxAttempts = 6
)

// Sweep looks at the jobs that are due for it and mends what a dead process
// left behind: steps claimed by a worker that is gone, steps whose task is not
// in the queue, jobs that ended without their waiters being told. Any number
// of workers may sweep at once. trusted says, at the moment it is asked,
// whether a missing heartbeat means that the worker is gone (jobs.Pulse). It
// returns how many jobs it mended, and whether more are due.
func (e *Engine) Sweep(ctx context.Context, class jobs.Class, trusted func() bool) (mended int, more bool, err error) {
	due, err := e.jobs.ListDue(ctx, class, sweepLimit, recheckQueued)
	if err != nil || len(due) == 0 {
		return 0, false, err
	}
	now, err := e.jobs.Now(ctx)
	if err != nil {
		return 0, false, err
	}
	var (
		group  errgroup.Group
		mu     sync.Mutex
		failed []error
	)
	group.SetLimit(sweepConcurrency)
	look := func(id string) error {
		did, err := e.checkJob(ctx, id, class, now, trusted)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = append(failed, fmt.Errorf("job %s: %w", id, err))
		}
		if did {
			mended++
		}
		return nil
	}
	for _, id := range due {
		if e.sequential {
			_ = look(id)
			continue
		}
		group.Go(func() error { return look(id) })
	}
	_ = group.Wait() // failed has them all
	return mended, len(due) == sweepLimit, errors.Join(failed...)
}

// checkJob mends one job.
func (e *Engine) checkJob(
	ctx context.Context, id string, class jobs.Class, now time.Time, trusted func() bool,
) (mended bool, err error) {
	job, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return true, e.jobs.RemoveActive(ctx, id, class)
	}
	if err != nil {
		return false, err
	}
	if job.Class != class { // it was promoted
		return false, e.jobs.MoveToClass(ctx, id, class, job.Class)
	}
	if !job.State.Ended() && len(job.Steps) == 0 && len(job.Children) == 0 {
		return true, e.startOrphan(ctx, job)
	}
	again := recheckQueued
	if class == jobs.Bulk {
		again = recheckBulk
	}
	mended, doubtful, err := e.recoverSteps(ctx, job, now, trusted)
	if err != nil {
		return mended, err
	}
	if doubtful {
		again = recheckRunning
	}
	if err := e.Advance(ctx, id); err != nil {
		return mended, err
	}
	return mended, e.jobs.ScheduleCheck(ctx, id, class, again)
}

// recoverSteps mends the steps of a job that has not ended, and ends one that has
// waited for its children for too long. doubtful says that a step may be lost.
func (e *Engine) recoverSteps(
	ctx context.Context, job *jobs.Job, now time.Time, trusted func() bool,
) (mended, doubtful bool, err error) {
	if job.State.Ended() {
		return false, false, nil
	}
	idle := true
	for name, step := range job.Steps {
		if step.State == jobs.StepDone {
			continue
		}
		idle = false
		did, may, err := e.recoverStep(ctx, job, name, now, trusted)
		mended, doubtful = mended || did, doubtful || may
		if err != nil {
			return mended, doubtful, err
		}
	}
	if idle && now.After(job.Deadline) && hasOpenChildren(job) {
		return true, false, e.Fail(ctx, job.ID, "", "", TimedOut())
	}
	return mended, doubtful, nil
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

// recoverStep ends a job that ran out of time, or gives a lost step to another worker.
func (e *Engine) recoverStep(
	ctx context.Context, job *jobs.Job, name string, now time.Time, trusted func() bool,
) (mended, doubtful bool, err error) {
	step := job.Steps[name]
	if step.State == jobs.StepReady && now.After(job.Deadline) {
		return true, false, e.Fail(ctx, job.ID, name, "", TimedOut())
	}
	lost, doubtful, err := e.isLost(ctx, job, name, now.Sub(step.Since), trusted)
	if !lost || err != nil {
		return false, doubtful, err
	}
	return true, false, e.requeue(ctx, job, name, step)
}

// startOrphan starts a job whose maker died before it could. Unless the same
// question is being answered already: nobody was told of this job, so it goes.
func (e *Engine) startOrphan(ctx context.Context, job *jobs.Job) error {
	holder, err := e.jobs.AcquireDedupKey(ctx, job.ID, job.DedupKey, time.Until(job.Deadline))
	if err != nil {
		return err
	}
	if holder != nil {
		return e.jobs.DeleteUnstarted(ctx, job.ID, job.Class)
	}
	return e.apply(ctx, job)
}

// isLost reports whether nobody is at work on a step and nothing in the queue
// will bring somebody; doubtful, that it looks so and is to be looked at again
// soon.
func (e *Engine) isLost(
	ctx context.Context, job *jobs.Job, name string, age time.Duration, trusted func() bool,
) (lost, doubtful bool, err error) {
	step := job.Steps[name]
	policy, ok := policies[job.Kind+":"+name]
	if !ok {
		return false, false, fmt.Errorf("tasks: no such step %q", name)
	}
	if step.State == jobs.StepClaimed {
		if age > policy.Timeout+2*timeoutMargin { // the claim was not given back
			return true, false, nil
		}
		if !trusted() {
			return false, true, nil
		}
		alive, err := e.jobs.Alive(ctx, step.Worker)
		return !alive, true, err
	}
	if age < claimTimeout {
		return false, false, nil
	}
	info, err := e.inspector.GetTaskInfo(queueOf(policy, job.Class), taskID(job.ID, name, step.Attempt))
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
		return false, false, nil // to move the job on puts it there
	case err != nil:
		return false, false, err
	}
	switch info.State {
	case asynq.TaskStateArchived, asynq.TaskStateCompleted:
		return true, false, nil
	case asynq.TaskStateActive:
		idle, err := e.jobs.UnclaimedFor(ctx, job.ID, name, step.Attempt)
		return trusted() && idle > claimTimeout, true, err
	default: // it waits
		return false, false, nil
	}
}

// requeue gives a step to another worker.
func (e *Engine) requeue(ctx context.Context, job *jobs.Job, name string, step jobs.Step) error {
	if step.Attempt >= MaxAttempts {
		return e.Fail(ctx, job.ID, name, step.Claim, &jobs.Error{
			Code:    "worker_lost",
			Message: "The work was begun several times and never finished. Please try again later.",
		})
	}
	attempt, err := e.jobs.Requeue(ctx, job.ID, name, step)
	if err != nil || attempt == 0 {
		return err
	}
	return e.enqueue(ctx, job, name, attempt)
}
