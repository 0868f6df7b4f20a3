package tasks

import (
	"context"
	"errors"

	"github.com/hibiken/asynq"
)

// TypeFeed is the task that hands rows of batches that wait on to the queues,
// as many as may be at work at once.
const TypeFeed = "batch:feed"

// feeds are the ids of the tasks: while one is at work, which may have looked
// already, another may wait.
var feeds = []string{"batch:feed.1", "batch:feed.2"}

// Feed has a worker look for rows that wait. It may be asked for at any time
// and as often as one likes.
func (e *Engine) Feed(ctx context.Context) error {
	policy := policies[TypeFeed]
	for _, id := range feeds {
		_, err := e.client.EnqueueContext(ctx, asynq.NewTask(TypeFeed, []byte("{}")),
			asynq.TaskID(id), asynq.Queue(policy.Queue), asynq.MaxRetry(policy.Retries), asynq.Timeout(policy.Timeout))
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
	}
	return nil
}
