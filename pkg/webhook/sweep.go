package webhook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

const (
	// keyPending is a sorted set of the deliveries that may be pending, by when Sweep looks at
	// them next, in ms.
	keyPending = "webhook:pending"
	// sweepAfter is how long a delivery is without a task before it gets a new one.
	sweepAfter = time.Minute
	// sweepLimit is how many deliveries one sweep looks at.
	sweepLimit = 200
)

// watch has Sweep look at a delivery.
func (s *Store) watch(ctx context.Context, id string) error {
	at := float64(time.Now().Add(sweepAfter).UnixMilli())
	if err := s.redis.ZAdd(ctx, keyPending, redis.Z{Score: at, Member: id}).Err(); err != nil {
		return fmt.Errorf("webhook: watch delivery: %w", err)
	}
	return nil
}

// Sweep gives a new task to pending deliveries whose task was deleted or archived by hand: such a
// delivery would stay pending for ever. It returns how many those were. Any number of processes
// may sweep.
func (s *Store) Sweep(ctx context.Context) (sent int, err error) {
	due, err := s.redis.ZRangeByScore(ctx, keyPending, &redis.ZRangeBy{
		Min: "-inf", Max: strconv.FormatInt(time.Now().UnixMilli(), 10), Count: sweepLimit,
	}).Result()
	if err != nil {
		return 0, fmt.Errorf("webhook: sweep: %w", err)
	}
	var errs []error
	for _, id := range due {
		again, err := s.sweepOne(ctx, id)
		if again {
			sent++
		}
		errs = append(errs, err)
	}
	return sent, errors.Join(errs...)
}

// sweepOne looks at one delivery, and reports whether it got a new task.
func (s *Store) sweepOne(ctx context.Context, id string) (again bool, err error) {
	d, _, err := s.delivery(ctx, id)
	if errors.Is(err, ErrNotFound) || err == nil && d.State != Pending {
		return false, s.redis.ZRem(ctx, keyPending, id).Err()
	}
	if err != nil {
		return false, err
	}
	info, err := s.inspector.GetTaskInfo(Queue, d.taskID())
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
	case err != nil:
		return false, fmt.Errorf("webhook: sweep: %w", err)
	case info.State == asynq.TaskStateArchived || info.State == asynq.TaskStateCompleted:
		if err := s.inspector.DeleteTask(Queue, info.ID); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
			return false, fmt.Errorf("webhook: sweep: %w", err)
		}
	default:
		return false, s.watch(ctx, id)
	}
	return true, s.enqueue(ctx, d, asynq.ProcessAt(d.Next))
}
