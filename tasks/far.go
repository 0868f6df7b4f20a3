package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
)

// A worker of the role authority may be far away from Redis. It looks into its queues
// seldom, and is woken when a task is enqueued. It asks the authority, stores the
// answers, and gives the step back to a worker near Redis, which calculates from them:
// neither the job's record nor its result crosses the line.

// wake tells workers far away that a queue of theirs has a new task. Without the
// message they find it when they look next.
func (e *Engine) wake(ctx context.Context, queue string) {
	if strings.TrimSuffix(queue, BulkSuffix) == QueueAuthority {
		_ = e.redis.Publish(ctx, jobs.ChannelEnqueued, queue).Err()
	}
}

// Answered is a step whose answers of the authority are stored.
type Answered struct {
	Type string      `json:"type"` // of the task
	Bulk bool        `json:"bulk,omitempty"`
	Task TaskPayload `json:"task"`

	// Asked is a step that has ended where it asked; then the others are empty.
	Asked *Asked `json:"asked,omitempty"`
}

// Message returns the message of an answered step.
func (a Answered) Message() (string, error) {
	a.Task.Ask = nil
	message, err := plainjson.Encode(a)
	return string(message), err
}

// ParseAnswered decodes the message of an answered step.
func ParseAnswered(message string) (Answered, error) {
	var a Answered
	if err := json.Unmarshal([]byte(message), &a); err != nil {
		return a, fmt.Errorf("tasks: answered step: %w", err)
	}
	if a.Asked != nil {
		if a.Asked.Job == "" || a.Asked.Vehicle == "" {
			return a, errors.New("tasks: an asked step lacks its job or vehicle")
		}
		return a, nil
	}
	if a.Task.Job == "" || a.Task.Attempt < 1 || !slices.Contains(StepTypes(), a.Type) || !strings.HasSuffix(a.Type, ":"+a.Task.Step) {
		return a, fmt.Errorf("tasks: an answered step lacks job or attempt, or its type %.80q is unknown", a.Type)
	}
	return a, nil
}

// EnqueueAnswered enqueues an answered step for the workers near Redis. It may be
// called twice for the same step.
func (e *Engine) EnqueueAnswered(ctx context.Context, a Answered) error {
	job := &jobs.Job{ID: a.Task.Job, Owner: a.Task.Key, Class: jobs.Interactive}
	queue := QueueAny
	if a.Bulk {
		job.Class, queue = jobs.Bulk, QueueAny+BulkSuffix
	}
	a.Task.Ask = nil
	task, err := stepTask(a.Type, queue, a.Task)
	if err != nil {
		return err
	}
	return e.enqueueInTurn(ctx, job, task, QueueAny, taskID(a.Task.Job, a.Task.Step, a.Task.Attempt))
}

// Return gives a claimed step that a worker near Redis cannot finish back to the role
// authority, whose worker then runs the whole step.
func (e *Engine) Return(ctx context.Context, job *jobs.Job, step string) error {
	_, err := e.requeue(ctx, job, step, job.Steps[step])
	return err
}
