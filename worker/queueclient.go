package worker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

const (
	// taskCheckInterval is how often an idle asynq server asks its queueClient for a task.
	// It is the longest wait for a task that a message has announced.
	taskCheckInterval = 5 * time.Millisecond
	// lookInterval is how often an idle queueClient asks Redis for a task of which it got
	// no message.
	lookInterval = time.Second
	// delayedCheckInterval is how often tasks whose delay is over are enqueued, in a queue
	// that had a task within busyFor. In the others that is done at each lookInterval: a long
	// delay may be a second longer.
	delayedCheckInterval = 200 * time.Millisecond
	busyFor              = 5 * time.Second
)

// queueClient is the Redis client of an asynq server of one queue. asynq asks for tasks at
// a fixed interval, which is a wait for each task, or hundreds of commands a second of an
// idle worker. This client answers most of these questions itself: it asks Redis when a
// message has announced a task, when the last look has found one, and at each interval.
type queueClient struct {
	redis.UniversalClient

	queue    string
	interval time.Duration // between two looks without a reason

	mu        sync.Mutex
	announced bool                 // a task may wait
	looked    time.Time            // when Redis was asked for a task
	busy      time.Time            // when a task was announced or found
	forwarded map[string]time.Time // when delayed tasks were looked for, by the key of their set
}

func newQueueClient(client redis.UniversalClient, queue string, interval time.Duration) *queueClient {
	return &queueClient{UniversalClient: client, queue: queue, interval: interval, forwarded: map[string]time.Time{}}
}

// announce makes the next question for a task go to Redis.
func (c *queueClient) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.announced, c.busy = true, time.Now()
}

// looks reports whether a question for a task goes to Redis.
func (c *queueClient) looks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.announced && time.Since(c.looked) < c.interval {
		return false
	}
	c.announced, c.looked = false, time.Now()
	return true
}

// forwards reports whether Redis is asked for tasks whose delay is over.
func (c *queueClient) forwards(set string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.busy) > busyFor && time.Since(c.forwarded[set]) < c.interval {
		return false
	}
	c.forwarded[set] = time.Now()
	return true
}

// Asynq's scripts are told apart by their keys.
func isDequeue(keys []string) bool { return len(keys) == 4 && strings.HasSuffix(keys[1], ":paused") }

func isForward(keys []string) bool { return len(keys) == 2 && strings.HasSuffix(keys[1], ":pending") }

// EvalSha runs a script of asynq, unless it would find nothing.
func (c *queueClient) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	switch {
	case isDequeue(keys) && !c.looks():
		return redis.NewCmdResult(nil, redis.Nil)
	case isForward(keys) && !c.forwards(keys[0]):
		return redis.NewCmdResult(int64(0), nil)
	}
	return c.ran(ctx, keys, c.UniversalClient.EvalSha(ctx, sha, keys, args...))
}

// Eval runs a script of asynq that Redis did not know.
func (c *queueClient) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.ran(ctx, keys, c.UniversalClient.Eval(ctx, script, keys, args...))
}

// ran looks at what a script found: where one task was, another may be.
func (c *queueClient) ran(ctx context.Context, keys []string, reply *redis.Cmd) *redis.Cmd {
	switch {
	case isDequeue(keys):
		if reply.Err() == nil {
			c.announce()
		}
	case isForward(keys):
		if moved, err := reply.Int(); err == nil && moved > 0 {
			c.announce()
			_ = c.Publish(ctx, jobs.ChannelEnqueued, c.queue).Err() // other workers may have more free places
		}
	}
	return reply
}

// listenEnqueued tells the clients of queues which of them has a new task, until ctx ends.
func (w *Worker) listenEnqueued(ctx context.Context) {
	redisx.Listener{
		Client: w.options.Redis, Channel: jobs.ChannelEnqueued, Refused: w.options.Refused,
		Heard: func(queue string) error {
			if client := w.queues[queue]; client != nil {
				client.announce()
				return nil
			}
			if !tasks.IsQueue(queue) {
				return fmt.Errorf("worker: there is no queue %.80q", queue)
			}
			return nil
		},
		Subscribed: func() { // messages may have been lost
			for _, client := range w.queues {
				client.announce()
			}
		},
	}.Run(ctx)
}
