package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// asynqKeys begins the keys of asynq.
const asynqKeys = "asynq:"

// QueueStates are what asynq calls the states of tasks in a queue.
var QueueStates = []string{"pending", "active", "scheduled", "retry", "archived"}

const (
	keyProcesses = "api:processes" // the processes of the API by when they were last alive
	// aliveInterval is how often a process of the API says that it is alive, and deadAfter how
	// long one counts that was killed.
	aliveInterval = 20 * time.Second
	deadAfter     = 3 * aliveInterval
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

// API is how the API does.
type API struct {
	Processes []string `json:"processes"`        // that are alive, or were killed less than a minute ago
	Answers   int64    `json:"answers"`          // in this hour, and in the last when there were few
	Errors    int64    `json:"errors"`           // of them: those with a status of 5xx
	Reason    string   `json:"reason,omitempty"` // their commonest code
}

// Role is a role and the workers that have it.
type Role struct {
	Role     string        `json:"role"`
	Workers  []jobs.Worker `json:"workers"`
	LastBeat *time.Time    `json:"lastBeat"` // of any worker of the role; null when there was none
	Waiting  int           `json:"waiting"`  // tasks that wait for the role
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

// AI is the use of the AI.
type AI struct {
	ai.DayBudget // of this day in Dar es Salaam

	Models []Model `json:"models"` // those of the workers, and those that were called in the last 24 hours
}

// Percent returns the part of the budget that is used; 0 without a budget.
func (a AI) Percent() int { return Percent(a.Used, a.Limit) }

// Model is one model in the last 24 hours.
type Model struct {
	Name     string           `json:"name"`
	OK       int64            `json:"ok"`
	Failed   map[string]int64 `json:"failed,omitempty"` // by kind of error
	Tokens   int64            `json:"tokens"`
	MedianMS int64            `json:"medianMs"`
	Failover int64            `json:"failover"` // calls because another model had failed
	InRow    int              `json:"inRow"`    // calls that have failed since the model last answered

	refused bool // the settings of the model were refused in this hour or the last
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

// Redis is the memory of Redis; of a cluster, that of the server with the least left.
type Redis struct {
	Used   int64  `json:"used"`  // bytes; 0 when the server does not tell
	Limit  int64  `json:"limit"` // 0: none
	Policy string `json:"policy,omitempty"`

	Refuses string `json:"refuses,omitempty"` // why it refuses writes
	Unsaved string `json:"unsaved,omitempty"` // the field of INFO that says that its disk was not written the last time

	Volatile bool  `json:"volatile,omitempty"` // it keeps no append-only file
	AheadMS  int64 `json:"aheadMs"`            // how far the clock of this process is ahead of that of Redis

	Loss *redisx.Loss `json:"loss,omitempty"` // of what it had acknowledged, found within a day
}

// Percent returns the part of the memory that is used; 0 without a limit.
func (r Redis) Percent() int { return Percent(r.Used, r.Limit) }

func (r *reading) authorityPart(ctx context.Context) (Authority, error) {
	ofTRA := func(what metrics.What) bool { return what.Site == metrics.Authority }
	part := Authority{
		MedianMS:   r.day.Median(ofTRA).Milliseconds(),
		QuarterEnd: tra.QuarterEnd(r.now),
		Calls:      []Calls{}, // also where there was none
		Hours:      r.byHour(func(what metrics.What) (bool, bool) { return isAnswer(what.Code), ofTRA(what) }),
	}
	part.Calls = slices.AppendSeq(part.Calls, maps.Values(r.calls(metrics.Authority, isAnswer)))
	slices.SortFunc(part.Calls, func(a, b Calls) int { return cmp.Compare(a.Name, b.Name) })
	var err, rulesErr error
	part.Status, err = r.authority.Status(ctx)
	part.Rules, rulesErr = r.drift.State(ctx)
	lists, listsErr := r.authority.State(ctx)
	part.Quarantined = lists.Quarantined
	return part, errors.Join(err, rulesErr, listsErr)
}

// isAnswer reports whether a call to the authority was answered.
func isAnswer(code string) bool { return code == metrics.OK || code == string(tra.NoSuchVehicle) }

// calls returns the calls to one side in the last 24 hours, by their names.
func (r *reading) calls(to string, isOK func(code string) bool) map[string]Calls {
	byName := map[string]Calls{}
	for what, n := range r.day.Ended {
		if what.Site != to {
			continue
		}
		calls, known := byName[what.Step]
		if !known {
			calls = Calls{Name: what.Step, Failed: map[string]int64{}}
		}
		if isOK(what.Code) {
			calls.OK += n
		} else {
			calls.Failed[what.Code] += n
		}
		byName[what.Step] = calls
	}
	return byName
}

// Announce keeps a process of the API among those that are alive until ctx ends.
func Announce(ctx context.Context, client redis.UniversalClient, name string) {
	for {
		wait := aliveInterval
		if announce(ctx, client, name) != nil {
			wait = time.Second // a Redis that is back must not miss the API
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = client.ZRem(last, keyProcesses, name).Err() // it expires by itself
			return
		case <-time.After(wait):
		}
	}
}

func announce(ctx context.Context, client redis.UniversalClient, name string) error {
	now := time.Now()
	pipe := client.Pipeline()
	pipe.ZAdd(ctx, keyProcesses, redis.Z{Score: float64(now.Unix()), Member: name})
	pipe.ZRemRangeByScore(ctx, keyProcesses, "-inf", strconv.FormatInt(now.Add(-deadAfter).Unix(), 10))
	pipe.Expire(ctx, keyProcesses, deadAfter)
	_, err := pipe.Exec(ctx)
	return err
}

func (r *reading) apiPart(ctx context.Context) (part API, err error) {
	since := strconv.FormatInt(r.now.Add(-deadAfter).Unix(), 10)
	part.Processes, err = r.redis.ZRangeByScore(ctx, keyProcesses, &redis.ZRangeBy{Min: since, Max: "+inf"}).Result()
	if err != nil {
		return part, fmt.Errorf("status: processes of the API: %w", err)
	}
	for _, hour := range r.hours[:2] {
		if part.Answers < enoughErrors {
			part.add(hour.Counts)
		}
	}
	return part, nil
}

func (a *API) add(counts metrics.Counts) {
	most := int64(0)
	for what, n := range counts.Ended {
		if what.Site != metrics.API {
			continue
		}
		a.Answers += n
		if what.Code == metrics.OK {
			continue
		}
		if a.Errors += n; n > most {
			most, a.Reason = n, what.Code
		}
	}
}

// ReadAges returns for how long the oldest job of each class has not ended; none of a class without
// such a job.
func ReadAges(ctx context.Context, store *jobs.Store, now time.Time) (map[jobs.Class]time.Duration, error) {
	ages := map[jobs.Class]time.Duration{}
	for _, class := range []jobs.Class{jobs.Interactive, jobs.Bulk} {
		since, err := store.Oldest(ctx, class)
		if err != nil {
			return ages, err
		}
		if !since.IsZero() {
			ages[class] = max(now.Sub(since), 0)
		}
	}
	return ages, nil
}

func (r *reading) ages(ctx context.Context) (map[jobs.Class]int64, error) {
	ms := map[jobs.Class]int64{}
	ages, err := ReadAges(ctx, r.jobs, r.now)
	for class, age := range ages {
		ms[class] = age.Milliseconds()
	}
	return ms, err
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

func (r *reading) queues(ctx context.Context) ([]Queue, error) { return ReadQueues(ctx, r.redis) }

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

// maxReason is how much is shown of why Redis refuses a write, in bytes.
const maxReason = 100

func (r *reading) aiPart(ctx context.Context) (AI, error) {
	var part AI
	called := r.calls(metrics.AI, isOK)
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
		refused := metrics.What{Site: metrics.AI, Step: name, Code: string(ai.Misconfigured)}
		part.Models = append(part.Models, Model{
			Name: name, OK: called[name].OK, Failed: called[name].Failed, InRow: r.marks.InRow[name],
			Tokens:   r.day.Marked[metrics.What{Site: metrics.AI, Step: name, Code: metrics.Tokens}],
			Failover: r.day.Marked[metrics.What{Site: metrics.AI, Step: name, Code: metrics.Failover}],
			refused:  r.hours[0].Ended[refused]+r.hours[1].Ended[refused] > 0,
			MedianMS: r.day.Median(func(w metrics.What) bool { return w == what }).Milliseconds(),
		})
	}
	var err error
	part.DayBudget, err = ai.ReadBudget(ctx, r.redis, daily, r.now)
	return part, err
}

// isOK reports whether a call of a model or of a receiver was answered.
func isOK(code string) bool { return code == metrics.OK }

func (r *reading) webhookPart(ctx context.Context) ([]Webhook, error) {
	owners := make([]string, 0, len(r.issued))
	for _, key := range r.issued {
		owners = append(owners, key.ID)
	}
	endpoints, err := r.webhooks.ListOf(ctx, owners)
	if err != nil {
		return nil, err
	}
	counts := r.calls(metrics.Webhook, isOK)
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

// redisPart returns how Redis does, also with an error as far as it could be read.
func (r *reading) redisPart(ctx context.Context) (Redis, error) {
	memory, err := redisx.ReadMemory(ctx, r.redis)
	loss, lossErr := redisx.ReadLoss(ctx, r.redis)
	ahead, timeErr := ReadAhead(ctx, r.redis)
	part := Redis{
		Used: memory.Used, Limit: memory.Limit, Policy: memory.Policy, Loss: loss,
		Unsaved: memory.Unsaved, Volatile: memory.Volatile, AheadMS: ahead.Milliseconds(),
	}
	if refused := redisx.CheckWrite(ctx, r.redis); refused != nil {
		text := refused.Error()
		part.Refuses = text[:min(len(text), maxReason)]
	}
	return part, errors.Join(err, lossErr, timeErr)
}

// ReadAhead returns how far the clock of this process is ahead of that of Redis, which leases go by.
func ReadAhead(ctx context.Context, client redis.UniversalClient) (time.Duration, error) {
	begun := time.Now()
	at, err := client.Time(ctx).Result()
	if err != nil {
		return 0, err
	}
	return begun.Add(time.Since(begun) / 2).Sub(at), nil //nolint:mnd // the middle of the round trip
}

// Percent returns part of whole in whole percent; 0 when there is no whole.
func Percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(part * 100 / whole)
}
