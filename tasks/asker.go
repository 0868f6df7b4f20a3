package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"ushuru/pkg/jobs"
)

// Many rows of a batch can be about one vehicle that is not known yet. One of their
// jobs, the asker (jobs.Store.Ask), has a task for the worker that calls the authority,
// which may be far away; the others wait near Redis for its answer, without a task. A
// job of a person never waits for an asker.
//
// Nothing is lost with an asker: the sweeper enqueues a step without a task again,
// whose job then waits again, or is the asker when the other has ended without a word.

// vehicleOf returns the name of what an ask asks for; "" of none.
func vehicleOf(ask json.RawMessage) string {
	const length = 8
	if ask == nil {
		return ""
	}
	sum := sha256.Sum256(ask)
	return hex.EncodeToString(sum[:length])
}

// joinAsker has a step of a batch wait for the job that asks for the same vehicle. It
// reports false when the step needs a task, for example because its job is the asker.
func (e *Engine) joinAsker(ctx context.Context, job *jobs.Job, step string, ask json.RawMessage) (joined bool, err error) {
	if ask == nil || job.Class != jobs.Bulk {
		return false, nil
	}
	waiting := Answered{
		Type: job.Kind + ":" + step, Bulk: true,
		Task: TaskPayload{Job: job.ID, Step: step, Attempt: 1, URL: PagesOf(job)},
	}
	message, err := waiting.Message()
	if err != nil {
		return false, err
	}
	switch result, err := e.jobs.Ask(ctx, vehicleOf(ask), job.ID, message); {
	case err != nil:
		return false, err
	case result == jobs.JustAnswered:
		return true, e.EnqueueAnswered(ctx, waiting)
	default:
		return result == jobs.Joined, nil
	}
}

// Asked is a step that has asked for a vehicle and has ended.
type Asked struct {
	Vehicle string `json:"vehicle"` // as in TaskPayload
	Job     string `json:"job"`
	Failed  bool   `json:"failed,omitempty"` // there is no answer
}

// StopAsking goes on with the steps that have waited for the answer to another: with
// the answer near Redis, or without one as if they had not waited, so that one of them
// asks.
func (e *Engine) StopAsking(ctx context.Context, a Asked) error {
	asker := ""
	if a.Failed {
		asker = a.Job
	}
	messages, err := e.jobs.StopAsking(ctx, a.Vehicle, asker)
	if err != nil {
		return err
	}
	var errs []error
	for _, message := range messages {
		waiting, err := ParseAnswered(message)
		switch {
		case err != nil:
		case a.Failed:
			err = e.Advance(ctx, waiting.Task.Job)
		default:
			err = e.EnqueueAnswered(ctx, waiting)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// AnnounceAsked has a worker near Redis call StopAsking. If the message is lost the
// sweeper goes on with the steps when the asker's lease has ended.
func (e *Engine) AnnounceAsked(ctx context.Context, a Asked) error {
	message, err := Answered{Asked: &a}.Message()
	if err != nil {
		return err
	}
	return e.redis.Publish(ctx, jobs.ChannelAnswered, message).Err()
}
