package worker

import (
	"context"
	"errors"
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
	// taskCheckInterval is the pause of an asynq server that was told that there is no task.
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
// idle worker. This client answers when there is something to say: it asks Redis when a
// message has announced a task, when the last look has found one, and at each interval.
type queueClient struct {
	redis.UniversalClient

	queue    string
	interval time.Duration // between two looks without a reason
	wake     chan struct{} // holds a value when a task may wait
	stopped  chan struct{} // closed by stop
	stop     func()        // ends the wait for a task
	looked   time.Time     // when Redis was asked for a task, by the one goroutine of asynq that asks

	mu        sync.Mutex
	busy      time.Time            // when a task was announced or found
	forwarded map[string]time.Time // when delayed tasks were looked for, by the key of their set
}

func newQueueClient(client redis.UniversalClient, queue string, interval time.Duration) *queueClient {
	stopped := make(chan struct{})
	return &queueClient{
		UniversalClient: client, queue: queue, interval: interval, wake: make(chan struct{}, 1),
		stopped: stopped, stop: sync.OnceFunc(func() { close(stopped) }), forwarded: map[string]time.Time{},
	}
}

// announce makes the next question for a task go to Redis.
func (c *queueClient) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = time.Now()
	select {
	case c.wake <- struct{}{}:
	default: // it goes there already
	}
}

// awaitLook waits until a question for a task goes to Redis. It returns false once the worker
// stops.
func (c *queueClient) awaitLook() bool {
	timer := time.NewTimer(c.interval - time.Since(c.looked))
	defer timer.Stop()
	select {
	case <-c.stopped:
		return false
	case <-c.wake:
	case <-timer.C:
	}
	c.looked = time.Now()
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
	if isForward(keys) && !c.forwards(keys[0]) {
		return redis.NewCmdResult(int64(0), nil)
	}
	// A question for a task says until when the task is leased: it does not wait for longer than
	// the interval.
	for end := time.Now().Add(c.interval); ; {
		if isDequeue(keys) && !c.awaitLook() {
			return redis.NewCmdResult(nil, redis.Nil)
		}
		reply := c.ran(ctx, keys, c.UniversalClient.EvalSha(ctx, sha, keys, args...))
		if !isDequeue(keys) || !errors.Is(reply.Err(), redis.Nil) || !time.Now().Before(end) {
			return reply
		}
	}
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
