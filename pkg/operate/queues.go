package operate

import (
	"context"
	"errors"
	"slices"

	"github.com/hibiken/asynq"
)

// ErrNoQueue means that a text is not the name of a queue.
var ErrNoQueue = errors.New("operate: there is no such queue; ushuru status lists them")

// PauseQueue has no worker take tasks of a queue until it is resumed.
func (o *Operator) PauseQueue(ctx context.Context, queue string) error {
	return o.do(ctx, "queues pause", queue, func() error { return o.setPaused(queue, true) })
}

// ResumeQueue has workers take the tasks of a queue again.
func (o *Operator) ResumeQueue(ctx context.Context, queue string) error {
	return o.do(ctx, "queues resume", queue, func() error { return o.setPaused(queue, false) })
}

// setPaused does nothing when the queue is as it shall be: asynq has an error without a kind for
// that.
func (o *Operator) setPaused(queue string, paused bool) error {
	inspector := asynq.NewInspectorFromRedisClient(o.options.Redis)
	known, err := inspector.Queues()
	if err != nil {
		return err
	}
	if !slices.Contains(known, queue) {
		return ErrNoQueue
	}
	info, err := inspector.GetQueueInfo(queue)
	switch {
	case err != nil:
		return err
	case info.Paused == paused:
		return nil
	case paused:
		return inspector.PauseQueue(queue)
	}
	return inspector.UnpauseQueue(queue)
}
