package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/retry"
	"ushuru/tasks"
)

// farQueues fetches the tasks of a worker far away from Redis. asynq fetches one task
// in each round trip and polls when there is none. Here each queue is fetched by
// itself, as many tasks in one round trip as there are free slots, when a message
// says that there are new ones; asynq's own look for a task takes what has come.
// Each queue has its slots, so that no task of a batch stands before one of a person.
//
// It is the Redis client of asynq's server: all other commands go to Redis unchanged,
// but for the list of the tasks that run, which Asynqmon does not show of this server.
type farQueues struct {
	redis.UniversalClient

	refused func(channel string, cause error) // of messages; nil ignores them
	queues  map[string]*farQueue              // by the key of the tasks that wait
	fetches sync.WaitGroup
}

// newFarQueues returns the queues of a role with a number of slots each, those of a
// batch with twice as many: its tasks wait for the line and for the rate limit. Fetches
// end with ctx.
func newFarQueues(ctx context.Context, client redis.UniversalClient, role tasks.Role, slots int, paced pace,
	refused func(channel string, cause error),
) *farQueues {
	f := &farQueues{UniversalClient: client, refused: refused, queues: map[string]*farQueue{}}
	for name := range tasks.QueuesOf(role) {
		places, poll := slots, paced.interactive
		if tasks.IsBulkQueue(name) {
			places, poll = farBulkSlots*slots, paced.bulk
		}
		q := &farQueue{
			redis: client, name: name, slots: places, poll: poll,
			woken: make(chan struct{}, 1), freed: make(chan struct{}, 1),
		}
		f.queues[asynqKeys+"{"+name+"}:pending"] = q
		f.fetches.Go(func() { q.run(ctx) })
	}
	f.fetches.Go(func() { f.listen(ctx) })
	return f
}

// EvalSha answers asynq's look for a task with one that was fetched, and shortens the
// state of its server.
func (f *farQueues) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	const keysOfDequeue, stateOfServer = 4, 2
	if len(keys) == stateOfServer && len(args) > stateOfServer && strings.HasPrefix(keys[0], asynqKeys+"servers") {
		args = args[:stateOfServer] // each task that runs is in it with its whole payload, every five seconds
	}
	if len(keys) == keysOfDequeue && strings.HasSuffix(keys[1], ":paused") {
		if q := f.queues[keys[0]]; q != nil {
			return q.dequeue(ctx, dequeueCall{sha, keys, args})
		}
	}
	return f.UniversalClient.EvalSha(ctx, sha, keys, args...)
}

// listen wakes the queues when a message names them, and all when messages may have
// been lost.
func (f *farQueues) listen(ctx context.Context) {
	redisx.Listener{
		Client: f.UniversalClient, Channel: jobs.ChannelEnqueued, Refused: f.refused,
		Heard: func(name string) error {
			for _, q := range f.queues {
				if q.name == name {
					q.wake(false)
				}
			}
			return nil
		},
		Subscribed: func() {
			for _, q := range f.queues {
				q.wake(true)
			}
		},
	}.Run(ctx)
}

// middleware counts the tasks that run.
func (f *farQueues) middleware(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		name, _ := asynq.GetQueueName(ctx)
		for _, q := range f.queues {
			if q.name == name {
				q.begin()
				defer q.end()
			}
		}
		return next.ProcessTask(ctx, task)
	})
}

// wait returns when the fetches have ended.
func (f *farQueues) wait() { f.fetches.Wait() }

// dequeueCall is asynq's call of its script that takes one task.
type dequeueCall struct {
	sha  string
	keys []string
	args []any // the first is when the lease of the task ends
}

// farQueue is one queue.
type farQueue struct {
	redis redis.UniversalClient
	name  string
	slots int
	poll  time.Duration // between two looks without a message

	woken, freed chan struct{}

	mu      sync.Mutex
	call    dequeueCall // asynq's last one; its lease is that of a task fetched now
	known   bool        // Redis knows the script
	fetched []any       // tasks for asynq
	taken   []time.Time // when asynq took tasks that do not run yet
	running int
	waiting int  // tasks that messages have named and that were not fetched
	unsure  bool // there may be others, as after a time without messages
}

// dequeue returns a fetched task; redis.Nil when there is none.
func (q *farQueue) dequeue(ctx context.Context, call dequeueCall) *redis.Cmd {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.call = call
	if !q.known { // asynq sends the text of the script when Redis does not know it
		q.known, q.unsure = true, true
		q.taken = append(q.taken, time.Now()) // perhaps
		q.signal()
		return q.redis.EvalSha(ctx, call.sha, call.keys, call.args...)
	}
	cmd := redis.NewCmd(ctx)
	if len(q.fetched) == 0 {
		cmd.SetErr(redis.Nil)
		return cmd
	}
	cmd.SetVal(q.fetched[0])
	q.fetched = q.fetched[1:]
	q.taken = append(q.taken, time.Now())
	return cmd
}

// wake has the queue fetched, because of one new task, or because there may be some.
func (q *farQueue) wake(unsure bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if unsure {
		q.unsure = true
	} else {
		q.waiting++
	}
	q.signal()
}

func (q *farQueue) signal() {
	select {
	case q.woken <- struct{}{}:
	default:
	}
}

func (q *farQueue) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running++
	if len(q.taken) > 0 {
		q.taken = q.taken[1:]
	}
}

func (q *farQueue) end() {
	q.mu.Lock()
	q.running--
	q.mu.Unlock()
	select {
	case q.freed <- struct{}{}:
	default:
	}
}

// run fetches tasks until ctx ends.
func (q *farQueue) run(ctx context.Context) {
	timer := time.NewTimer(q.poll)
	defer timer.Stop()
	for {
		timer.Reset(q.poll)
		select {
		case <-ctx.Done():
			return
		case <-q.woken:
		case <-timer.C:
			q.wake(true)
		}
		for more := true; more; {
			if !q.awaitRoom(ctx) {
				return
			}
			var err error
			if more, err = q.fetch(ctx); err != nil && retry.Sleep(ctx, farRetryDelay) != nil {
				return
			}
		}
	}
}

// awaitRoom waits for a free slot. It reports false when ctx ends before.
func (q *farQueue) awaitRoom(ctx context.Context) bool {
	const check = time.Second // a task that asynq took and did not run frees its slot without a signal
	for q.room() <= 0 {
		select {
		case <-ctx.Done():
			return false
		case <-q.freed:
		case <-time.After(check):
		}
	}
	return ctx.Err() == nil
}

// room returns the number of free slots.
func (q *farQueue) room() int {
	const longest = 2 * time.Second // asynq runs a task within milliseconds, unless it must not run any more
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.taken) > 0 && time.Since(q.taken[0]) > longest {
		q.taken = q.taken[1:]
	}
	return q.slots - q.running - len(q.taken) - len(q.fetched)
}

// fetch fetches as many tasks as messages have named, at least one and at most as many
// as there are free slots. It reports whether there are more, or may be.
func (q *farQueue) fetch(ctx context.Context) (more bool, err error) {
	room := q.room()
	q.mu.Lock()
	call, n := q.call, max(1, min(room, q.waiting))
	q.mu.Unlock()
	if call.sha == "" {
		return false, nil // asynq has not started
	}
	pipe := q.redis.Pipeline()
	replies := make([]*redis.Cmd, n)
	for i := range replies {
		replies[i] = pipe.EvalSha(ctx, call.sha, call.keys, call.args...)
	}
	_, err = pipe.Exec(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	got := 0
	for _, reply := range replies {
		if task, err := reply.Result(); err == nil {
			q.fetched = append(q.fetched, task)
			got++
		}
	}
	switch {
	case redis.HasErrorPrefix(err, "NOSCRIPT"):
		q.known = false
		return false, nil
	case got == n && q.unsure: // twice as many in the next round trip
		q.waiting = max(q.waiting-n, n+n)
		return true, nil
	case got == n:
		q.waiting = max(q.waiting-n, 0)
		return q.waiting > 0, nil
	case err != nil && !errors.Is(err, redis.Nil): // the line is cut
		q.unsure = true
		return true, err
	}
	q.waiting, q.unsure = 0, false
	return false, nil
}

// farRetryDelay is the pause after a fetch that failed.
const farRetryDelay = 200 * time.Millisecond
