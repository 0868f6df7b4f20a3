package status

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Role is a role and the workers that have it.
type Role struct {
	Role     string        `json:"role"`
	Workers  []jobs.Worker `json:"workers"`
	LastBeat *time.Time    `json:"lastBeat"` // of any worker of the role; null when there was none
	Waiting  int           `json:"waiting"`  // tasks that wait for the role
}

func (r *reading) roles() []Role {
	roles := make([]Role, 0, len(tasks.Roles))
	for _, name := range tasks.Roles {
		role := Role{Role: string(name), Workers: []jobs.Worker{}}
		if at, seen := r.seen[role.Role]; seen {
			role.LastBeat = &at
		}
		for _, w := range r.alive {
			if slices.Contains(w.Roles, role.Role) {
				role.Workers = append(role.Workers, w)
			}
		}
		roles = append(roles, role)
	}
	return roles
}

// countWaiting adds the queues of the role.
func (r *Role) countWaiting(queues []Queue) {
	for _, queue := range queues {
		if queue.Role == r.Role {
			r.Waiting += queue.Waiting + queue.Delayed
		}
	}
}

// Queue is a queue of tasks.
type Queue struct {
	Name     string `json:"name"`
	Role     string `json:"role"` // whose workers take its tasks
	Waiting  int    `json:"waiting"`
	Delayed  int    `json:"delayed"` // tasks that wait for a time, also to be tried again
	Running  int    `json:"running"`
	OldestMS int64  `json:"oldestMs"` // how long the oldest task that waits has waited
	Paused   bool   `json:"paused"`   // by an operator

	sizes []*redis.IntCmd // by QueueStates
}

// asynqKeys begins the keys of asynq.
const asynqKeys = "asynq:"

// QueueStates are what asynq calls the states of tasks in a queue.
var QueueStates = []string{"pending", "active", "scheduled", "retry", "archived"}

// ReadQueues returns the queues by their names. It reads the keys of asynq, whose Inspector takes
// no context: a Redis that hangs would hold the reader.
func ReadQueues(ctx context.Context, client redis.UniversalClient) ([]Queue, error) {
	queues := []Queue{{Name: webhook.Queue, Role: string(tasks.RoleAny)}}
	for _, role := range tasks.Roles {
		for name := range tasks.QueuesOf(role) {
			queues = append(queues, Queue{Name: name, Role: string(role)})
		}
	}
	slices.SortFunc(queues, func(a, b Queue) int { return cmp.Compare(a.Name, b.Name) })
	pipe := client.Pipeline()
	paused, oldest := make([]*redis.IntCmd, len(queues)), make([]*redis.StringCmd, len(queues))
	for i := range queues {
		key := func(of string) string { return asynqKeys + "{" + queues[i].Name + "}:" + of }
		for _, state := range QueueStates {
			size := pipe.ZCard
			if state == "pending" || state == "active" {
				size = pipe.LLen
			}
			queues[i].sizes = append(queues[i].sizes, size(ctx, key(state)))
		}
		paused[i], oldest[i] = pipe.Exists(ctx, key("paused")), pipe.LIndex(ctx, key("pending"), -1)
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return queues, err
	}
	since := make([]*redis.StringCmd, len(queues))
	for i := range queues {
		q := &queues[i]
		q.Waiting, q.Running, q.Delayed = q.Size("pending"), q.Size("active"), q.Size("scheduled")+q.Size("retry")
		q.Paused = paused[i].Val() > 0
		since[i] = pipe.HGet(ctx, asynqKeys+"{"+q.Name+"}:t:"+oldest[i].Val(), "pending_since") // none without a task
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return queues, err
	}
	for i := range queues {
		if nanos, err := since[i].Int64(); err == nil {
			queues[i].OldestMS = max(time.Since(time.Unix(0, nanos)).Milliseconds(), 0)
		}
	}
	return queues, nil
}

// Size returns how many tasks of a queue are in a state.
func (q Queue) Size(state string) int { return int(q.sizes[slices.Index(QueueStates, state)].Val()) }
