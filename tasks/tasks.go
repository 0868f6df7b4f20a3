// Package tasks defines the work of the service: its task types, queues and roles,
// and the workflow of each kind of job, which is a pure function of the job's
// record (workflow.go). The Engine advances jobs by it. A task in a
// queue only makes a worker read the record.
package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/webhook"
)

// Options are the parts of an Engine. Redis and the stores are required.
type Options struct {
	Redis    redis.UniversalClient // holds the queues; it stays the caller's
	Jobs     *jobs.Store
	Results  *cache.Cache
	Webhooks *webhook.Store

	// BeforeSucceed is called with a job and its result before the job ends, so
	// that the result is cached when the next caller looks for it. It may be
	// called twice. It is nil in processes that end no jobs.
	BeforeSucceed func(ctx context.Context, job *jobs.Job, result json.RawMessage) error
	// Notifiers tell subscribers that are neither jobs nor API keys of a job's
	// end, by the first word of the subscriber's name.
	Notifiers map[string]Notifier
	// IsRunning reports whether a worker belongs to this process, and whether that worker still
	// runs the step of a claim. After Redis has gone back in time a step may be claimed
	// by a run that has ended. A nil function knows no worker.
	IsRunning func(worker, claim string) (own, running bool)
	// Fallback returns the output of a step that waits for a worker, when it can be made
	// without one and no worker can be expected to run the step now. Sweep asks for it.
	// Nil makes none.
	Fallback func(ctx context.Context, job *jobs.Job, step string) (output json.RawMessage, ok bool)
	// OnLost is called with a job that Sweep has ended because no worker did a step of
	// its: "" for its children. Nil is not called.
	OnLost func(job *jobs.Job, step string, failure *jobs.Error)
	// OnEnd, if not nil, is called once with every job that this process ends, as it is
	// then; not when the process dies in between.
	OnEnd func(job *jobs.Job)
	// OnTakeover, if not nil, is called with every step that is given to another worker
	// because its own is gone.
	OnTakeover func(job *jobs.Job, step string)
	// Sequential does nothing in the background, for tests that must run the same way
	// every time.
	Sequential bool
}

// Notifier tells subscribers of a job that has ended. It may be called twice
// with the same subscribers: a job is finalized only when all its notifiers
// have returned without an error. A process that lacks the notifier for a
// subscriber leaves the job to one that has it.
type Notifier func(ctx context.Context, job *jobs.Job, subscribers []string) error

// Engine advances jobs: it opens the steps that are next, enqueues their tasks,
// and ends jobs whose outputs are all there. Every method may be called twice,
// by any process, at any time.
type Engine struct {
	options    Options
	client     *asynq.Client
	inspector  *asynq.Inspector
	notifiers  map[string]Notifier // by the first word of a subscriber
	turns      *pace.Turns
	announcing sync.Map // an *atomic.Bool of each queue: an announcement is about to be sent
}

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{
		options: o, notifiers: map[string]Notifier{}, turns: pace.NewTurns(o.Redis),
		client: asynq.NewClientFromRedisClient(o.Redis), inspector: asynq.NewInspectorFromRedisClient(o.Redis),
	}
	maps.Copy(e.notifiers, o.Notifiers)
	e.notifiers[subscriberJob], e.notifiers[subscriberKey] = e.notifyJobs, e.notifyKeys
	return e
}

// Task types. Those of a job's steps are "<kind>:<step>".
const (
	TypeScrape    = "estimate:scrape"
	TypeMatch     = "estimate:match"
	TypeCalculate = "estimate:calculate"
	TypeSummarize = "report:summarize"
	TypeRecommend = "compare:recommend"
	TypeSync      = "authority:sync"
	TypeProbe     = "authority:probe"

	TypeQuoteMatch     = "quote:match"
	TypeQuoteCalculate = "quote:calculate"
)

// Queues, one for each role: an asynq server polls its queues one after the other,
// so that an empty queue costs time. A bulk job's step goes to the queue of the same
// name with BulkSuffix.
const (
	QueueAny       = "any"
	QueueAuthority = "authority"
	QueueAI        = "ai"
	BulkSuffix     = "_bulk"
)

// Weights of the two classes when tasks of both wait, so that neither starves.
const (
	weightInteractive = 9
	weightBulk        = 1
)

// Policy is how a task is enqueued and retried.
type Policy struct {
	Queue      string
	Timeout    time.Duration // of one attempt
	MaxRetries int           // of an interactive job, see MaxRetriesFor; a snooze is not a retry
}

// maxRetriesBulk is how many failures of a bulk step are retried, where an
// interactive step has four. A site that fails three requests in ten fails five in
// a row for one row in four hundred, thirteen in a row for one in six million.
const maxRetriesBulk = 12

// MaxRetriesFor returns how many failures of a step are retried.
func (p Policy) MaxRetriesFor(class jobs.Class) int {
	if class == jobs.Bulk {
		return max(p.MaxRetries, maxRetriesBulk)
	}
	return p.MaxRetries
}

// noRetryLimit means that a step is retried until the job's deadline.
const noRetryLimit = 1000

// policies holds the policy of each task type.
var policies = map[string]Policy{
	TypeScrape:    {Queue: QueueAny, Timeout: 45 * time.Second, MaxRetries: 4},
	TypeMatch:     {Queue: QueueAny, Timeout: 60 * time.Second, MaxRetries: 4},
	TypeCalculate: {Queue: QueueAuthority, Timeout: 120 * time.Second, MaxRetries: noRetryLimit},
	TypeSummarize: {Queue: QueueAI, Timeout: 120 * time.Second, MaxRetries: 4},
	TypeRecommend: {Queue: QueueAI, Timeout: 120 * time.Second, MaxRetries: 4},
	// As for an estimate.
	TypeQuoteMatch:     {Queue: QueueAny, Timeout: 60 * time.Second, MaxRetries: 4},
	TypeQuoteCalculate: {Queue: QueueAuthority, Timeout: 120 * time.Second, MaxRetries: noRetryLimit},
	// Its handler does not fail: the next dispatch or a sweep does what is left. Only the
	// task of a killed worker is retried.
	TypeDispatch: {Queue: QueueAny, Timeout: 30 * time.Second, MaxRetries: noRetryLimit},
	// The handlers of these two do not fail. Only the task of a killed worker is retried.
	TypeSync:  {Queue: QueueAuthority, Timeout: 300 * time.Second, MaxRetries: noRetryLimit},
	TypeProbe: {Queue: QueueAuthority, Timeout: 120 * time.Second, MaxRetries: noRetryLimit},
}

// PolicyOf returns the policy of a task type; false for an unknown type.
func PolicyOf(taskType string) (Policy, bool) {
	policy, ok := policies[taskType]
	return policy, ok
}

// StepTypes returns the task types of the steps of jobs, in order.
func StepTypes() (types []string) {
	for taskType := range policies {
		kind, _, _ := strings.Cut(taskType, ":")
		if _, isJob := workflows[kind]; isJob {
			types = append(types, taskType)
		}
	}
	slices.Sort(types)
	return types
}

// Role is what a worker process does.
type Role string

// The roles. Only the role authority calls the authority, which answers Tanzanian IP
// addresses only; the others may run anywhere. The role ai reads auction sheets and
// words recommendations; its steps need much time and memory, so that it has its own
// concurrency.
const (
	RoleAny       Role = QueueAny
	RoleAuthority Role = QueueAuthority
	RoleAI        Role = QueueAI
)

// Roles are all the roles that a worker can have.
var Roles = []Role{RoleAny, RoleAuthority, RoleAI}

// QueuesOf returns the queues of a role with their weights.
func QueuesOf(role Role) map[string]int {
	name := QueueOf(role)
	return map[string]int{name: weightInteractive, name + BulkSuffix: weightBulk}
}

// QueuePaused is the word for a queue whose tasks wait because an operator has paused it.
const QueuePaused = "queue_paused"

// PausedQueues returns the queues of steps that an operator has paused, by the marks of asynq.
func PausedQueues(ctx context.Context, client redis.UniversalClient) (paused []string, err error) {
	pipe, marks := client.Pipeline(), map[string]*redis.IntCmd{}
	for _, role := range Roles {
		for queue := range QueuesOf(role) {
			marks[queue] = pipe.Exists(ctx, "asynq:{"+queue+"}:paused")
		}
	}
	_, err = pipe.Exec(ctx)
	for queue, mark := range marks {
		if mark.Val() > 0 {
			paused = append(paused, queue)
		}
	}
	slices.Sort(paused)
	return paused, err
}

// QueueOf returns the queue of a role for the tasks of people, which has the name of the role.
func QueueOf(role Role) string { return string(role) }

// IsQueue reports whether a name is that of a queue of steps.
func IsQueue(name string) bool {
	return slices.Contains(Roles, Role(strings.TrimSuffix(name, BulkSuffix)))
}

// IsBulkQueue reports whether a queue is for steps of bulk jobs.
func IsBulkQueue(name string) bool { return strings.HasSuffix(name, BulkSuffix) }

// TaskPayload is the payload of a step's task. URL is shown to the
// operator and logged, and left out where it carries a token.
type TaskPayload struct {
	Job     string `json:"job"`
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	URL     string `json:"url,omitempty"`
	Key     string `json:"key,omitempty"` // for which API key a person's task is
}

// ParseTaskPayload decodes a payload.
func ParseTaskPayload(payload []byte) (TaskPayload, error) {
	var n TaskPayload
	if err := json.Unmarshal(payload, &n); err != nil {
		return n, fmt.Errorf("tasks: payload: %w", err)
	}
	if n.Job == "" || n.Step == "" || n.Attempt < 1 {
		return n, fmt.Errorf("tasks: payload lacks job, step or attempt: %.200s", payload)
	}
	return n, nil
}
