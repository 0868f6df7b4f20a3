package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/refusal"
)

// succeed ends a job with its result and returns the record as it is then. An
// earlier end, for example a cancellation, stays.
func (e *Engine) succeed(ctx context.Context, job *jobs.Job, result json.RawMessage) (*jobs.Job, error) {
	if err := e.cacheResult(ctx, job, result); err != nil {
		return nil, err
	}
	finished, err := e.jobs.Finish(ctx, job, result)
	if err != nil {
		return nil, err
	}
	if finished.At.IsZero() {
		return e.jobs.Get(ctx, job.ID)
	}
	ended := endedAs(job, result, finished)
	e.countEnd(ended)
	return ended, nil
}

// cacheResult caches the result of a job before it ends. Past the deadline a full
// cache no longer keeps the result from the caller.
func (e *Engine) cacheResult(ctx context.Context, job *jobs.Job, result json.RawMessage) error {
	if e.beforeSucceed == nil {
		return nil
	}
	if err := e.beforeSucceed(ctx, job, result); err != nil && time.Now().Before(job.Deadline) {
		return err
	}
	return nil
}

// endedAs returns the record of a job as it is after Finish.
func endedAs(job *jobs.Job, result json.RawMessage, finished jobs.Finished) *jobs.Job {
	ended := *job
	ended.State, ended.Result, ended.Ended, ended.Kept = jobs.Succeeded, result, finished.At, finished.Kept
	if finished.Promoted {
		ended.Class = jobs.Interactive
	}
	return &ended
}

// Fail ends a job with an error. With a claim it does so only while that claim
// on the step is valid.
func (e *Engine) Fail(ctx context.Context, id, step, claim string, failure *jobs.Error) error {
	ended, err := e.jobs.Fail(ctx, id, step, claim, failure)
	if err != nil {
		return err
	}
	return e.advanceEnded(ctx, id, ended)
}

// advanceEnded is Advance of a job that the caller has ended, or has tried to.
func (e *Engine) advanceEnded(ctx context.Context, id string, ended bool) error {
	job, err := e.jobs.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return e.Advance(ctx, id)
	case err != nil:
		return err
	case ended:
		e.countEnd(job)
	}
	return e.advanceFrom(ctx, job)
}

// countEnd reports a job that this process has ended.
func (e *Engine) countEnd(job *jobs.Job) {
	if e.onEnd != nil && job.State.Ended() {
		e.onEnd(job)
	}
}

// finalize does what is left after the end of a job, whichever way it ended: it
// publishes the end, so that waiting requests return and the next request of the
// same input starts a new job; it releases the children of a cancelled job; it
// notifies the subscribers. It may run twice: the sweeper calls it until it has
// once returned without an error.
func (e *Engine) finalize(ctx context.Context, job *jobs.Job) error {
	var remember time.Duration
	if job.Error != nil && job.Error.Permanent && refusal.IsDefinite(job.Error.Code) && job.Kind != KindCompare {
		remember = jobs.RefusalTTL
	}
	subscribers, err := e.jobs.PublishEnd(ctx, job, remember)
	if err != nil {
		return err
	}
	if job.State == jobs.Cancelled {
		if err := e.releaseChildren(ctx, job); err != nil {
			return err
		}
	}
	return e.notifyEnd(ctx, job, subscribers)
}

// notifyEnd notifies the subscribers of a job whose end was published.
func (e *Engine) notifyEnd(ctx context.Context, job *jobs.Job, subscribers []string) error {
	if err := e.notify(ctx, job, subscribers); err != nil {
		return fmt.Errorf("%w: %w", ErrNotifyIncomplete, err)
	}
	return e.jobs.MarkFinalized(ctx, job)
}
