// Package tasks says what is to be done, in which order and in which queue.
// The order is a pure function of the job's record (workflow.go); a task in
// the queue only nudges a worker to look at the record (engine.go).
package tasks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
)

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

// Queues, one for each role: who looks for work asks one queue after the other,
// so each costs something while it is empty. A bulk job's step goes to the
// queue of the same name with BulkSuffix.
const (
	QueueAny       = "any"
	QueueAuthority = "authority"
	QueueAI        = "ai"
	BulkSuffix     = "_bulk"
)

// Shares of the two classes when both wait: neither starves.
const (
	weightInteractive = 9
	weightBulk        = 1
)

// Policy is how a task is queued and tried again.
type Policy struct {
	Queue      string
	Timeout    time.Duration // of one try
	MaxRetries int           // failures allowed after the first, see Allowed; waiting at a closed gate is none
}

// maxRetriesBulk is how many failures the step of a batch's job is allowed where
// a person would wait for four: some minutes of them. A site that fails three
// requests in ten fails five in a row for one row in four hundred, thirteen
// for one in six million.
const maxRetriesBulk = 12

// MaxRetriesFor is how many failures of a step are tried again.
func (p Policy) MaxRetriesFor(class jobs.Class) int {
	if class == jobs.Bulk {
		return max(p.MaxRetries, maxRetriesBulk)
	}
	return p.MaxRetries
}

// noRetryLimit stands for "as often as the job's deadline allows".
const noRetryLimit = 1000

// policies is the table of design.md section 4.
var policies = map[string]Policy{
	TypeScrape:    {Queue: QueueAny, Timeout: 45 * time.Second, MaxRetries: 4},
	TypeMatch:     {Queue: QueueAny, Timeout: 60 * time.Second, MaxRetries: 4},
	TypeCalculate: {Queue: QueueAuthority, Timeout: 120 * time.Second, MaxRetries: noRetryLimit},
	TypeSummarize: {Queue: QueueAI, Timeout: 120 * time.Second, MaxRetries: 4},
	TypeRecommend: {Queue: QueueAI, Timeout: 120 * time.Second, MaxRetries: 4},
	// As for an estimate.
	TypeQuoteMatch:     {Queue: QueueAny, Timeout: 60 * time.Second, MaxRetries: 4},
	TypeQuoteCalculate: {Queue: QueueAuthority, Timeout: 120 * time.Second, MaxRetries: noRetryLimit},
	// What it does not do is done by the next one, or a sweep; what is retried is a killed worker.
	TypeDispatch: {Queue: QueueAny, Timeout: 30 * time.Second, MaxRetries: noRetryLimit},
	// The handlers of these two do not fail; what is retried is a killed worker.
	TypeSync:  {Queue: QueueAuthority, Timeout: 300 * time.Second, MaxRetries: noRetryLimit},
	TypeProbe: {Queue: QueueAuthority, Timeout: 120 * time.Second, MaxRetries: noRetryLimit},
}

// PolicyOf returns the policy of a task type; false for an unknown type.
func PolicyOf(taskType string) (Policy, bool) {
	policy, ok := policies[taskType]
	return policy, ok
}

// Role is what a worker process is there for.
type Role string

// The roles. Only the role authority talks to the authority, which answers
// Tanzanian addresses only; the others may stand anywhere. The role ai reads
// auction sheets and words recommendations; its steps take long and much
// memory, so it has room of its own.
const (
	RoleAny       Role = "any"
	RoleAuthority Role = "authority"
	RoleAI        Role = "ai"
)

// Roles are all the roles that a worker can have.
var Roles = []Role{RoleAny, RoleAuthority, RoleAI}

var queueOfRole = map[Role]string{RoleAny: QueueAny, RoleAuthority: QueueAuthority, RoleAI: QueueAI}

// QueuesOf returns the queues of a role with their weights.
func QueuesOf(role Role) map[string]int {
	name := queueOfRole[role]
	return map[string]int{name: weightInteractive, name + BulkSuffix: weightBulk}
}

// TaskPayload is the payload of a step's task. URL is there for the operator's eye
// only.
type TaskPayload struct {
	Job     string `json:"job"`
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	URL     string `json:"url,omitempty"`
}

// ParseTaskPayload reads a payload.
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

// taskID is the same for the same attempt at the same step, so that a task
// can be put in the queue twice without harm.
func taskID(job, step string, attempt int) string {
	return fmt.Sprintf("%s.%s.%d", job, step, attempt)
}

// queueOf is where a step of a job waits.
func queueOf(policy Policy, class jobs.Class) string {
	if class == jobs.Bulk {
		return policy.Queue + BulkSuffix
	}
	return policy.Queue
}

// newTask makes the task of one attempt at a step.
func newTask(job *jobs.Job, step string, attempt int) (*asynq.Task, error) {
	taskType := job.Kind + ":" + step
	policy, ok := policies[taskType]
	if !ok {
		return nil, fmt.Errorf("tasks: no such task %q", taskType)
	}
	payload, err := json.Marshal(TaskPayload{job.ID, step, attempt, payloadURLs(job)})
	if err != nil {
		return nil, err
	}
	return asynq.NewTask(taskType, payload,
		asynq.TaskID(taskID(job.ID, step, attempt)),
		asynq.Queue(queueOf(policy, job.Class)),
		asynq.MaxRetry(noRetryLimit), // the handler counts, so that a closed gate never archives
		// The handler keeps the policy's own timeout; the queue's is a net
		// under it, so that the handler's word on a failure comes first.
		asynq.Timeout(policy.Timeout+timeoutMargin)), nil
}

// payloadURLs is what a job is about, for the operator's eye.
func payloadURLs(job *jobs.Job) string {
	var input struct {
		URL  string `json:"url"`
		URL1 string `json:"url1"`
		URL2 string `json:"url2"`
	}
	_ = json.Unmarshal(job.Input, &input)
	if input.URL1 != "" {
		return input.URL1 + " " + input.URL2
	}
	return input.URL
}

const timeoutMargin = 15 * time.Second
