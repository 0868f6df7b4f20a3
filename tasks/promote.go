package tasks

import (
	"context"
	"errors"

	"ushuru/pkg/jobs"
)

// promote makes an interactive job of a bulk one: its ready steps, and those of
// its children, move to the queue of interactive jobs. If the process dies in
// between, the sweeper does the rest: it looks for a ready step in the queue of
// the job's class. From now on it takes the turns of the key that asked last.
func (e *Engine) promote(ctx context.Context, job *jobs.Job, owner string) (*jobs.Job, error) {
	promoted, err := e.jobs.Promote(ctx, job)
	if err != nil {
		return nil, err
	}
	current, err := e.jobs.Get(ctx, job.ID)
	if err != nil || !promoted {
		return current, err
	}
	owned := *current
	owned.Owner = owner
	for name, step := range current.Steps {
		if step.State != jobs.StepReady {
			continue
		}
		requeued, err := e.requeue(ctx, &owned, name, step)
		if err != nil {
			return nil, err
		}
		if requeued {
			e.deleteTask(job, name, step.Attempt)
		}
	}
	for _, child := range current.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if err := e.promoteChild(ctx, child.Job, owner); err != nil {
			return nil, err
		}
	}
	return current, nil
}

func (e *Engine) promoteChild(ctx context.Context, id, owner string) error {
	child, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	if err != nil || child.Class != jobs.Bulk || child.State.Ended() {
		return err
	}
	_, err = e.promote(ctx, child, owner)
	return err
}

// Redeliver enqueues a ready step as a new attempt, when asynq holds the task of the
// old one but no worker runs it: asynq would bring that one again after a minute or
// two. It does nothing when the step has another attempt or state by now.
func (e *Engine) Redeliver(ctx context.Context, id, step string, attempt int) error {
	job, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	if err != nil || job.State.Ended() {
		return err
	}
	seen := job.Steps[step]
	if seen.State != jobs.StepReady || seen.Attempt != attempt || attempt >= MaxAttempts {
		return nil
	}
	_, err = e.requeue(ctx, job, step, seen)
	return err
}

// requeue raises the attempt of a step and enqueues the task of the new attempt.
// It reports false when the step is no longer as it was seen.
func (e *Engine) requeue(ctx context.Context, job *jobs.Job, name string, seen jobs.Step) (bool, error) {
	attempt, err := e.jobs.Requeue(ctx, job.ID, name, seen)
	if err != nil || attempt == 0 {
		return false, err
	}
	if err := e.leaveTurn(ctx, job, name, seen.Attempt); err != nil {
		return false, err
	}
	return true, e.enqueue(ctx, job, name, attempt)
}

// deleteTask deletes the task of an attempt that is over. A failure is harmless:
// a worker that takes the task finds it stale.
func (e *Engine) deleteTask(job *jobs.Job, step string, attempt int) {
	policy, ok := policies[job.Kind+":"+step]
	if !ok {
		return
	}
	_ = e.inspector.DeleteTask(queueOf(policy, job.Class), taskID(job.ID, step, attempt))
}
