package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// TypeDispatch is the task that turns waiting rows of batches into jobs, as many
// as may run at once.
const TypeDispatch = "batch:dispatch"

// dispatchTaskIDs are the ids of the tasks: while one runs, which may have read
// the batches already, another may wait.
var dispatchTaskIDs = []string{"batch:dispatch.1", "batch:dispatch.2"}

// EnqueueDispatch enqueues a dispatch, unless one waits already.
func (e *Engine) EnqueueDispatch(ctx context.Context) error {
	for _, id := range dispatchTaskIDs {
		_, err := e.client.EnqueueContext(ctx, maintenanceTask(TypeDispatch, id))
		if err == nil {
			e.announce(ctx, policies[TypeDispatch].Queue)
		}
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
	}
	return nil
}

// EnqueueOnce enqueues a task that belongs to no job, once for each slot of time
// however many processes call it. The task may run twice.
func (e *Engine) EnqueueOnce(ctx context.Context, taskType string, slot time.Duration, now time.Time) error {
	if _, ok := policies[taskType]; !ok {
		return fmt.Errorf("tasks: no such task %q", taskType)
	}
	return e.enqueueTask(ctx, maintenanceTask(taskType, fmt.Sprintf("%s.%d", taskType, now.Truncate(slot).Unix())))
}

// maintenanceTask makes a task that belongs to no job.
func maintenanceTask(taskType, id string) *asynq.Task {
	policy := policies[taskType]
	return asynq.NewTask(taskType, []byte("{}"),
		asynq.TaskID(id), asynq.Queue(policy.Queue), asynq.MaxRetry(policy.MaxRetries), asynq.Timeout(policy.Timeout))
}

// SubscriberBatch is the first word of a subscriber that is a row of a batch.
const SubscriberBatch = "batch"

// RowSubscriber names a row of a batch as the subscriber of its job:
// "batch:<id>#<index of the row>".
func RowSubscriber(batch string, row int) string {
	return fmt.Sprintf("%s:%s#%d", SubscriberBatch, batch, row)
}

// LeaveRow returns what batch.Store.Release calls for the rows of a cancelled batch: their jobs
// are cancelled unless others wait for them.
func (e *Engine) LeaveRow(batch string) func(ctx context.Context, job string, row int) error {
	return func(ctx context.Context, job string, row int) error {
		return e.Unsubscribe(ctx, job, RowSubscriber(batch, row))
	}
}
