package tasks

import (
	"context"
	"errors"

	"ushuru/pkg/jobs"
)

// Errors of CancelFor.
var (
	// ErrNotRequester means that the API key did not request the job.
	ErrNotRequester = errors.New("tasks: the API key did not request the job")
	// ErrStillNeeded means that others wait for the job, which continues.
	ErrStillNeeded = errors.New("tasks: others wait for the job")
)

// CancelFor unsubscribes an API key from a job, which is cancelled unless others
// wait for it. It returns the job as it is afterwards: a job that had ended
// before stays as it ended.
func (e *Engine) CancelFor(ctx context.Context, id, owner string) (*jobs.Job, error) {
	job, err := e.options.Jobs.Get(ctx, id)
	if err != nil || job.State.Ended() {
		return job, err
	}
	subscribers, err := e.options.Jobs.Subscribers(ctx, id)
	if err != nil {
		return nil, err
	}
	var unsubscribed error
	subscribed := false
	for _, subscriber := range subscribers {
		if key, _, ok := keyOf(subscriber); !ok || key != owner {
			continue
		}
		subscribed = true
		unsubscribed = errors.Join(unsubscribed, e.Unsubscribe(ctx, id, subscriber))
	}
	if !subscribed {
		return job, ErrNotRequester
	}
	job, err = e.options.Jobs.Get(ctx, id)
	switch {
	case err != nil || job.State.Ended(): // then the sweeper does what could not be done, as while Redis is full
		return job, err
	case unsubscribed != nil:
		return nil, unsubscribed
	}
	return job, ErrStillNeeded
}
