package tasks

import (
	"context"
	"errors"
	"strings"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
)

// subscriberKey is the first word of a parent that is an API key: the caller, who
// is told of the end by webhook if he wants to be.
const subscriberKey = "key"

// subscriber is who is to be told of the end of what was asked for.
func (a Requester) subscriber() string {
	if a.Subscriber == "" && a.Owner != "" {
		return keySubscriber(a.Owner)
	}
	return a.Subscriber
}

func keySubscriber(owner string) string { return subscriberKey + ":" + owner }

// jobCompletedEvent is the data of the event job.completed. The result itself is at
// Location, for whoever has the key.
type jobCompletedEvent struct {
	ID       string      `json:"id"`
	Kind     string      `json:"kind"`
	State    jobs.State  `json:"state"`
	Created  time.Time   `json:"created"`
	Ended    time.Time   `json:"ended"`
	Location string      `json:"location"`
	Error    *jobs.Error `json:"error,omitempty"`
}

// notifyKeys tells callers of the end of a job.
func (e *Engine) notifyKeys(ctx context.Context, job *jobs.Job, parents []string) error {
	data := jobCompletedEvent{
		ID: job.ID, Kind: job.Kind, State: job.State, Created: job.Created, Ended: job.Ended,
		Location: "/v1/jobs/" + job.ID, Error: job.Error,
	}
	var failed error
	for _, parent := range parents {
		owner := strings.TrimPrefix(parent, subscriberKey+":")
		failed = errors.Join(failed, e.webhooks.Emit(ctx, owner, webhook.JobCompleted, job.ID, job.Ended, data))
	}
	return failed
}

// Errors of Abandon.
var (
	// ErrNotRequester means that the caller did not ask for the job.
	ErrNotRequester = errors.New("tasks: this key did not ask for the job")
	// ErrStillNeeded means that others wait for the job too, and that it goes on.
	ErrStillNeeded = errors.New("tasks: others wait for the job")
)

// CancelFor ends a caller's interest in a job, and the job with it, for good,
// unless others want it. The job is as it is then; one that had ended before
// stays as it ended.
func (e *Engine) CancelFor(ctx context.Context, id, owner string) (*jobs.Job, error) {
	job, err := e.jobs.Get(ctx, id)
	if err != nil || job.State.Ended() {
		return job, err
	}
	asked, err := e.jobs.IsSubscribed(ctx, id, keySubscriber(owner))
	if err != nil {
		return nil, err
	}
	if !asked {
		return job, ErrNotRequester
	}
	if err := e.Unsubscribe(ctx, id, keySubscriber(owner)); err != nil {
		return nil, err
	}
	if job, err = e.jobs.Get(ctx, id); err != nil || job.State.Ended() {
		return job, err
	}
	return job, ErrStillNeeded
}

// promote has a job of a batch done as if a person had asked first, for now
// one has: its steps, and those of its children, change the queue. Whoever
// dies in between leaves that to the sweep, which looks for a ready step in
// the queue of the job's class.
func (e *Engine) promote(ctx context.Context, job *jobs.Job) (*jobs.Job, error) {
	promoted, err := e.jobs.Promote(ctx, job)
	if err != nil {
		return nil, err
	}
	now, err := e.jobs.Get(ctx, job.ID)
	if err != nil || !promoted {
		return now, err
	}
	for name, step := range now.Steps {
		if step.State != jobs.StepReady {
			continue
		}
		attempt, err := e.jobs.Requeue(ctx, now.ID, name, step)
		if err != nil {
			return nil, err
		}
		if attempt == 0 { // it moved on meanwhile
			continue
		}
		if err := e.enqueue(ctx, now, name, attempt); err != nil {
			return nil, err
		}
		e.deleteTask(job, name, step.Attempt)
	}
	for _, child := range now.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if err := e.promoteChild(ctx, child.Job); err != nil {
			return nil, err
		}
	}
	return now, nil
}

func (e *Engine) promoteChild(ctx context.Context, id string) error {
	child, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	if err != nil || child.Class != jobs.Bulk || child.State.Ended() {
		return err
	}
	_, err = e.promote(ctx, child)
	return err
}

// deleteTask takes a stale task out of its queue. Left there it does no harm,
// for whoever gets it finds it stale.
func (e *Engine) deleteTask(job *jobs.Job, step string, attempt int) {
	policy, ok := policies[job.Kind+":"+step]
	if !ok {
		return
	}
	_ = e.inspector.DeleteTask(queueOf(policy, job.Class), taskID(job.ID, step, attempt))
}
