package worker

import (
	"context"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// keeper is the Redis client of an asynq server that takes no tasks. A worker near
// Redis runs it for the queues of the role authority, whose workers may be far away and
// look seldom for tasks whose delay is over: asynq moves those here, and a message
// wakes the workers.
type keeper struct{ redis.UniversalClient }

// EvalSha runs a script, unless it would take a task.
func (k keeper) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	const keysOfForward, keysOfDequeue = 2, 4
	if len(keys) == keysOfDequeue && strings.HasSuffix(keys[1], ":paused") {
		none := redis.NewCmd(ctx)
		none.SetErr(redis.Nil)
		return none
	}
	reply := k.UniversalClient.EvalSha(ctx, sha, keys, args...)
	if len(keys) == keysOfForward && strings.HasSuffix(keys[1], ":pending") {
		if moved, err := reply.Int(); err == nil && moved > 0 {
			queue := strings.TrimSuffix(strings.TrimPrefix(keys[1], asynqKeys+"{"), "}:pending")
			_ = k.Publish(ctx, jobs.ChannelEnqueued, queue).Err() // without it the workers look themselves
		}
	}
	return reply
}

// asynqKeys begins the keys of asynq.
const asynqKeys = "asynq:"

// startKeeper starts the keeper of the authority's queues.
func (w *Worker) startKeeper() error {
	config := ServerConfig(tasks.QueuesOf(tasks.RoleAuthority), 1, w.options.ShutdownTimeout, w.options.Log)
	config.TaskCheckInterval = 10 * delayedCheckInterval //nolint:mnd // it takes no tasks
	config.DelayedTaskCheckInterval = 2 * delayedCheckInterval
	return w.startServer(asynq.NewServerFromRedisClient(keeper{w.options.Redis}, config), asynq.NotFoundHandler())
}
