package tasks

import (
	"context"
	"slices"

	"ushuru/pkg/jobs"
)

// Claim claims the step of a task for one run of a worker, and returns the record of its
// job. It returns nil when there is nothing to run: the step has its output already or its
// job has ended, and then Claim does what the record asks for; a later attempt has the
// step; or an output that the step needs was lost, and is made first.
func (e *Engine) Claim(ctx context.Context, task TaskPayload, worker, claim string) (*jobs.Job, error) {
	result, job, err := e.options.Jobs.Claim(ctx, task.Job, task.Step, task.Attempt, worker, claim)
	switch {
	case err != nil:
		return nil, err
	case result == jobs.AlreadyDone, result == jobs.JobEnded:
		return nil, e.Advance(ctx, task.Job)
	case job != nil && !isNext(job, task.Step):
		return nil, e.postpone(ctx, job, claim)
	}
	return job, nil
}

// isNext reports whether the outputs are there that a claimed step needs. They are not
// when Redis has gone back in time while a run did several steps: it stored the output
// of a later step in a record that has lost those before.
func isNext(job *jobs.Job, step string) bool {
	next, err := advance(job)
	return err != nil || next.Result != nil || next.Failed != nil || slices.Contains(next.Steps, step)
}

// postpone releases a claimed step whose turn has not come, see isNext, and advances the
// job: the outputs that are missing are made first. The sweeper looks soon for the run
// that has lost them.
func (e *Engine) postpone(ctx context.Context, job *jobs.Job, claim string) error {
	if err := e.options.Jobs.Release(ctx, job.ID, claim, false); err != nil {
		return err
	}
	if err := e.Advance(ctx, job.ID); err != nil {
		return err
	}
	return e.options.Jobs.ScheduleCheck(ctx, job.ID, job.Class, recheckRunning)
}
