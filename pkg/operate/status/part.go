package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/ai"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Authority is how TRA's calculator does.
type Authority struct {
	tra.Status

	MedianMS   int64       `json:"medianMs"`   // of the calls that were answered in the last 24 hours
	QuarterEnd time.Time   `json:"quarterEnd"` // when its figures change
	Rules      drift.State `json:"rules"`      // whether its answers follow the dated rules
	Calls      []Calls     `json:"calls"`      // of the last 24 hours, by call
	Hours      []Hour      `json:"hours"`      // calls, the oldest hour first

	Quarantined int64 `json:"quarantined"` // lists that differ so much that they are not used yet
}

// Calls are the calls of a name.
type Calls struct {
	Name   string           `json:"name"`
	OK     int64            `json:"ok"`
	Failed map[string]int64 `json:"failed,omitempty"` // by kind of error
}

// isAnswer reports whether a call to the authority was answered.
func isAnswer(code string) bool { return code == metrics.OK || code == string(tra.NoSuchVehicle) }

func (r *reading) authorityPart(ctx context.Context) (Authority, error) {
	ofTRA := func(what metrics.What) bool { return what.Site == metrics.Authority }
	part := Authority{
		MedianMS:   r.day.Median(ofTRA).Milliseconds(),
		QuarterEnd: tra.QuarterEnd(r.now),
		Calls:      r.calls(metrics.Authority, isAnswer),
		Hours:      r.byHour(func(what metrics.What) (bool, bool) { return isAnswer(what.Code), ofTRA(what) }),
	}
	var err, rulesErr error
	part.Status, err = r.authority.Status(ctx)
	part.Rules, rulesErr = r.drift.State(ctx)
	lists, listsErr := r.authority.State(ctx)
	part.Quarantined = lists.Quarantined
	return part, errors.Join(err, rulesErr, listsErr)
}

// calls returns the calls to one side in the last 24 hours.
func (r *reading) calls(to string, isOK func(code string) bool) []Calls {
	byName := map[string]*Calls{}
	for what, n := range r.day.Ended {
		if what.Site != to {
			continue
		}
		calls, known := byName[what.Step]
		if !known {
			calls = &Calls{Name: what.Step, Failed: map[string]int64{}}
			byName[what.Step] = calls
		}
		if isOK(what.Code) {
			calls.OK += n
		} else {
			calls.Failed[what.Code] += n
		}
	}
	all := make([]Calls, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, *byName[name])
	}
	return all
}

// Role is a role and the workers that have it.
type Role struct {
	Role     string     `json:"role"`
	Workers  []Worker   `json:"workers"`
	LastBeat *time.Time `json:"lastBeat"` // of any worker of the role; null when there was none
	Waiting  int        `json:"waiting"`  // tasks that wait for the role
}

// Worker is a worker that is alive.
type Worker struct {
	ID       string    `json:"id"`
	Roles    []string  `json:"roles"`
	Version  string    `json:"version,omitempty"`
	Started  time.Time `json:"started"`
	LastBeat time.Time `json:"lastBeat"`
}

func (r *reading) roles() []Role {
	roles := make([]Role, 0, len(tasks.Roles))
	for _, name := range tasks.Roles {
		role := Role{Role: string(name), Workers: []Worker{}}
		if at, seen := r.seen[role.Role]; seen {
			role.LastBeat = &at
		}
		for _, w := range r.alive {
			if slices.Contains(w.Roles, role.Role) {
				role.Workers = append(role.Workers, shown(w))
			}
		}
		roles = append(roles, role)
	}
	return roles
}

func shown(w jobs.Worker) Worker {
	return Worker{ID: w.ID, Roles: w.Roles, Version: w.Version, Started: w.Started, LastBeat: w.LastBeat}
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

// AI is the use of the AI.
type AI struct {
	ai.DayBudget // of this day in Dar es Salaam

	Models []Model `json:"models"` // those of the workers, and those that were called in the last 24 hours
}

// Percent returns the part of the budget that is used; 0 without a budget.
func (a AI) Percent() int { return percent(a.Used, a.Limit) }

// Model is one model in the last 24 hours.
type Model struct {
	Name     string           `json:"name"`
	OK       int64            `json:"ok"`
	Failed   map[string]int64 `json:"failed,omitempty"` // by kind of error
	Tokens   int64            `json:"tokens"`
	Dollars  float64          `json:"dollars"`
	MedianMS int64            `json:"medianMs"`
	Failover int64            `json:"failover"` // calls because another model had failed
}

func (r *reading) aiPart(ctx context.Context) (AI, error) {
	var part AI
	called := map[string]Calls{}
	for _, calls := range r.calls(metrics.AI, func(code string) bool { return code == metrics.OK }) {
		called[calls.Name] = calls
	}
	var (
		names []string
		daily int64 // by the settings of the workers
	)
	for _, w := range r.alive {
		daily = max(daily, w.DailyTokens)
		names = append(names, w.Models...)
	}
	names = append(names, slices.Sorted(maps.Keys(called))...)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		what := metrics.What{Site: metrics.AI, Step: name}
		part.Models = append(part.Models, Model{
			Name: name, OK: called[name].OK, Failed: called[name].Failed, Tokens: r.day.Tokens[what],
			Dollars: r.day.Dollars[what], Failover: r.day.Failover[what],
			MedianMS: r.day.Median(func(w metrics.What) bool { return w == what }).Milliseconds(),
		})
	}
	var err error
	part.DayBudget, err = ai.ReadBudget(ctx, r.redis, daily, r.now)
	return part, err
}

// Webhook is an endpoint of an API key.
type Webhook struct {
	Key      string `json:"key"`  // id of the API key
	Name     string `json:"name"` // of the key
	ID       string `json:"id"`
	Host     string `json:"host"` // of its URL, whose rest may be a secret
	State    string `json:"state"`
	Disabled string `json:"disabled,omitempty"` // why nothing is sent
	// Of the last 24 hours.
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`  // for the last time
	Retried   int64 `json:"retried"` // attempts that failed and are repeated
}

func (r *reading) webhookPart(ctx context.Context) ([]Webhook, error) {
	owners := make([]string, 0, len(r.issued))
	for _, key := range r.issued {
		owners = append(owners, key.ID)
	}
	endpoints, err := r.webhooks.ListOf(ctx, owners)
	if err != nil {
		return nil, err
	}
	counts := map[string]Calls{}
	for _, calls := range r.calls(metrics.Webhook, func(code string) bool { return code == metrics.OK }) {
		counts[calls.Name] = calls
	}
	var all []Webhook
	for _, owner := range owners {
		for _, e := range endpoints[owner] {
			count := counts[e.ID]
			all = append(all, Webhook{
				Key: owner, Name: r.nameOf(owner), ID: e.ID, Host: hostOf(e.URL), State: string(e.State), Disabled: e.Disabled,
				Delivered: count.OK, Failed: count.Failed["given_up"] + count.Failed["gone"], Retried: count.Failed["retried"],
			})
		}
	}
	return all, nil
}

// Redis is the memory of Redis; of a cluster, that of the server with the least left.
type Redis struct {
	Used   int64  `json:"used"`  // bytes; 0 when the server does not tell
	Limit  int64  `json:"limit"` // 0: none
	Policy string `json:"policy,omitempty"`

	Refuses string `json:"refuses,omitempty"` // why it refuses writes

	Loss *redisx.Loss `json:"loss,omitempty"` // of what it had acknowledged, found within a day
}

// Percent returns the part of the memory that is used; 0 without a limit.
func (r Redis) Percent() int { return percent(r.Used, r.Limit) }

func (r *reading) memory(ctx context.Context) (Redis, error) {
	memory, err := redisx.ReadMemory(ctx, r.redis)
	loss, lossErr := redisx.ReadLoss(ctx, r.redis)
	return Redis{Used: memory.Used, Limit: memory.Limit, Policy: memory.Policy, Loss: loss}, errors.Join(err, lossErr)
}

// percent returns part of whole in percent; 0 when there is no whole.
func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * 100)
}
