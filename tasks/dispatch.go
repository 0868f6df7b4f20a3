package tasks

import (
	"context"
	"errors"

	"github.com/hibiken/asynq"
)

// TypeDispatch is the task that hands rows of batches that wait on to the queues,
// as many as may be at work at once.
const TypeDispatch = "batch:feed"

// dispatchTaskIDs are the ids of the tasks: while one is at work, which may have looked
// already, another may wait.
var dispatchTaskIDs = []string{"batch:feed.1", "batch:feed.2"}

// EnqueueDispatch has a worker look for rows that wait. It may be asked for at any time
// and as often as one likes.
func (e *Engine) EnqueueDispatch(ctx context.Context) error {
	policy := policies[TypeDispatch]
	for _, id := range dispatchTaskIDs {
		_, err := e.client.EnqueueContext(ctx, asynq.NewTask(TypeDispatch, []byte("{}")),
			asynq.TaskID(id), asynq.Queue(policy.Queue), asynq.MaxRetry(policy.MaxRetries), asynq.Timeout(policy.Timeout))
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
	}
	return nil
}
