package status

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hibiken/asynq"

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
}

func (r *reading) queues(context.Context) ([]Queue, error) {
	inspector := asynq.NewInspectorFromRedisClient(r.redis)
	queues := []Queue{{Name: webhook.Queue, Role: string(tasks.RoleAny)}}
	for _, role := range tasks.Roles {
		for _, name := range slices.Sorted(maps.Keys(tasks.QueuesOf(role))) {
			queues = append(queues, Queue{Name: name, Role: string(role)})
		}
	}
	slices.SortFunc(queues, func(a, b Queue) int { return cmp.Compare(a.Name, b.Name) })
	known, err := inspector.Queues() // none before a worker has started
	if err != nil {
		return queues, err
	}
	for i := range queues {
		if !slices.Contains(known, queues[i].Name) {
			continue
		}
		info, err := inspector.GetQueueInfo(queues[i].Name)
		if err != nil {
			return queues, err
		}
		queues[i].Waiting, queues[i].Delayed, queues[i].Running = info.Pending, info.Scheduled+info.Retry, info.Active
		queues[i].OldestMS, queues[i].Paused = info.Latency.Milliseconds(), info.Paused
	}
	return queues, nil
}
