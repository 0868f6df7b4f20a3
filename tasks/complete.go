package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"ushuru/pkg/jobs"
)

// StepOutput is the output of a step.
type StepOutput struct {
	Step   string
	Output json.RawMessage
}

// Run is one run of a handler. It can go on with a job's next step in the same
// task.
type Run struct {
	Worker, Claim string                     // as in jobs.Step
	CanRun        func(taskType string) bool // reports whether the run can go on with a step; nil: with none
}

// goesOnWith returns the step that a run can go on with; "" for none.
func (r Run) goesOnWith(kind string, next Next) string {
	if r.CanRun == nil || len(next.Steps) != 1 || !r.CanRun(kind+":"+next.Steps[0]) {
		return ""
	}
	return next.Steps[0]
}

// Continuation is a job whose next step was claimed together with the completion
// of the step before.
type Continuation struct {
	Job  *jobs.Job
	Step string
}

// Complete stores the output of a step and advances the job. The job is as it
// was when the step was claimed: what comes next is known from it, and is stored
// together with the output. Only when another process has changed the job in
// between, or when children come next, the record is read again. A next step that
// the run can go on with is claimed for it and returned.
//
// early, if any, are outputs of the steps that follow, in their order, which the
// same run has made. They are used when the job ends with them.
func (e *Engine) Complete(
	ctx context.Context, job *jobs.Job, step string, output json.RawMessage, by Run, early ...StepOutput,
) (*Continuation, error) {
	after := *job
	after.Outputs, after.Steps = maps.Clone(job.Outputs), maps.Clone(job.Steps)
	after.Outputs[step] = output
	if ended, err := e.finishWith(ctx, &after, step, early); ended || err != nil {
		return nil, err
	}
	next, err := advance(&after)
	known := err == nil && next.Failed == nil && len(next.Children) == 0
	if !known {
		next = Next{}
	}
	var stored jobs.Completed
	continued := by.goesOnWith(job.Kind, next)
	if continued != "" {
		stored, err = e.jobs.Continue(ctx, job.ID, step, output, continued, by.Worker, by.Claim)
	} else {
		stored, err = e.jobs.Complete(ctx, job.ID, step, output, next.Steps...)
	}
	if err != nil {
		return nil, err
	}
	if !known || !stored.Accepted {
		return nil, e.Advance(ctx, job.ID)
	}
	if stored.Promoted {
		after.Class = jobs.Interactive
	}
	if continued != "" {
		after.Steps[continued] = jobs.Step{State: jobs.StepClaimed, Attempt: 1, Worker: by.Worker, Claim: by.Claim}
		return &Continuation{&after, continued}, nil
	}
	for _, opened := range next.Steps {
		after.Steps[opened] = jobs.Step{State: jobs.StepReady, Attempt: 1}
	}
	return nil, e.advanceFrom(ctx, &after)
}

// finishWith ends a job whose last outputs have just been made: that of a step, and
// early ones of the steps that follow. It reports false when more has to be done.
func (e *Engine) finishWith(ctx context.Context, job *jobs.Job, step string, early []StepOutput) (bool, error) {
	last := *job
	last.Outputs = maps.Clone(job.Outputs)
	steps := append(make([]string, 0, 1+len(early)), step)
	for _, output := range early {
		last.Outputs[output.Step] = output.Output
		steps = append(steps, output.Step)
	}
	next, err := advance(&last)
	if err != nil || next.Result == nil {
		return false, nil //nolint:nilerr // the caller does what comes next
	}
	if err := e.cacheResult(ctx, job, next.Result); err != nil {
		// What was made is kept, so that it is not made again.
		_, storeErr := e.jobs.Complete(ctx, job.ID, step, job.Outputs[step])
		return true, errors.Join(err, storeErr)
	}
	finished, err := e.jobs.Finish(ctx, job, next.Result, steps...)
	if err != nil {
		return true, err
	}
	if finished.At.IsZero() {
		return true, e.Advance(ctx, job.ID)
	}
	ended := endedAs(job, next.Result, finished)
	e.countEnd(ended)
	return true, e.notifyEnd(ctx, ended, finished.Subscribers)
}

// IsNext reports whether the outputs are there that a claimed step needs. They are not
// when Redis has gone back in time while a run did several steps: it stored the output
// of a later step in a record that has lost those before.
func IsNext(job *jobs.Job, step string) bool {
	next, err := advance(job)
	return err != nil || next.Result != nil || next.Failed != nil || slices.Contains(next.Steps, step)
}

// Postpone releases a claimed step whose turn has not come, see IsNext, and advances the
// job: the outputs that are missing are made first. The sweeper looks soon for the run
// that has lost them.
func (e *Engine) Postpone(ctx context.Context, job *jobs.Job, step, claim string) error {
	if err := e.jobs.Release(ctx, job.ID, step, claim, false); err != nil {
		return err
	}
	if err := e.Advance(ctx, job.ID); err != nil {
		return err
	}
	return e.jobs.ScheduleCheck(ctx, job.ID, job.Class, recheckRunning)
}
