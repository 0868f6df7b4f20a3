package tasks

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
	// archivedFor is how long an archived task stays for the operator to see.
	archivedFor = 7 * 24 * time.Hour
	// tidyLimit is how many archived tasks of a queue are deleted at once.
	tidyLimit = 500
)

// scriptRecoverActive returns tasks to their queue that asynq counts as active although no
// worker has a lease on them: asynq itself never looks at those (hibiken/asynq issue 1144). It
// forgets those that have no record. asynq makes an entry and its lease in one step. KEYS:
// active, lease and pending of a queue. ARGV: what the keys of its tasks begin with. It returns
// their number.
var scriptRecoverActive = redis.NewScript(`
local found = 0
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if not redis.call('ZSCORE', KEYS[2], id) then
    found = found + 1
    redis.call('LREM', KEYS[1], 0, id)
    if redis.call('EXISTS', ARGV[1] .. id) == 1 then
      redis.call('RPUSH', KEYS[3], id)
      redis.call('HSET', ARGV[1] .. id, 'state', 'pending')
    end
  end
end
return found
`)

// TidyQueues recovers active tasks without a lease, and deletes tasks that were archived a
// week ago, in all queues that exist. Any number of processes may do so.
func (e *Engine) TidyQueues(ctx context.Context) error {
	queues, err := e.inspector.Queues()
	if err != nil {
		return fmt.Errorf("tasks: queues: %w", err)
	}
	errs := make([]error, 0, len(queues))
	for _, queue := range queues {
		errs = append(errs, e.tidyQueue(ctx, queue))
	}
	return errors.Join(errs...)
}

func (e *Engine) tidyQueue(ctx context.Context, queue string) error {
	base := "asynq:{" + queue + "}:"
	keys := []string{base + "active", base + "lease", base + "pending"}
	recovered, err := scriptRecoverActive.Run(ctx, e.options.Redis, keys, base+"t:").Int()
	if err != nil {
		return fmt.Errorf("tasks: active tasks of %s: %w", queue, err)
	}
	if recovered > 0 {
		e.announce(ctx, queue)
	}
	ids, err := e.options.Redis.ZRangeByScore(ctx, base+"archived", &redis.ZRangeBy{
		Min: "-inf", Max: strconv.FormatInt(time.Now().Add(-archivedFor).Unix(), 10), Count: tidyLimit,
	}).Result()
	if err != nil {
		return fmt.Errorf("tasks: archived tasks of %s: %w", queue, err)
	}
	for _, id := range ids {
		if err := e.inspector.DeleteTask(queue, id); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
			return fmt.Errorf("tasks: archived task of %s: %w", queue, err)
		}
	}
	return nil
}
