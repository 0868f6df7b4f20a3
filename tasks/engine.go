package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
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
	// Sequential makes Sweep check one job at a time, for tests that must run
	// the same way every time.
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
	jobs          *jobs.Store
	results       *cache.Cache
	webhooks      *webhook.Store
	client        *asynq.Client
	inspector     *asynq.Inspector
	beforeSucceed func(context.Context, *jobs.Job, json.RawMessage) error
	notifiers     map[string]Notifier
	sequential    bool
}

// New makes an Engine.
func New(o Options) *Engine {
	return &Engine{
		jobs: o.Jobs, results: o.Results, webhooks: o.Webhooks,
		client:        asynq.NewClientFromRedisClient(o.Redis),
		inspector:     asynq.NewInspectorFromRedisClient(o.Redis),
		beforeSucceed: o.BeforeSucceed, notifiers: o.Notifiers, sequential: o.Sequential,
	}
}

// Requester says for whom a job is made.
type Requester struct {
	Owner string     // id of the API key
	Class jobs.Class //
	// Subscriber is told of the job's end: another job (see jobParent), or a
	// name whose first word has a handler in Ended. "" is the caller himself.
	Subscriber string
}

// Submit returns the job that answers a question: a new one, or the one that
// is in flight for the same kind and input. It does not look in the cache
// (see Answered).
func (e *Engine) Submit(ctx context.Context, kind string, asked any, by Requester) (*jobs.Job, error) {
	input, err := plainjson.Encode(asked)
	if err != nil {
		return nil, err
	}
	flow, ok := workflows[kind]
	if !ok {
		return nil, fmt.Errorf("tasks: no such kind of job %q", kind)
	}
	deadline := flow.deadline
	if by.Class == jobs.Bulk {
		deadline = deadlineBulk
	}
	job, joined, err := e.jobs.Create(ctx, jobs.New{
		Kind: kind, Class: by.Class, Owner: by.Owner, Input: input, Deadline: deadline, Subscriber: by.subscriber(),
	})
	if err == nil && joined && by.Class == jobs.Interactive && job.Class == jobs.Bulk && !job.State.Ended() {
		return e.promote(ctx, job)
	}
	if err != nil || joined {
		return job, err
	}
	return job, e.apply(ctx, job)
}

// Estimate returns the job that estimates a listing. The URL must be canonical.
func (e *Engine) Estimate(ctx context.Context, url, owner string, class jobs.Class) (*jobs.Job, error) {
	return e.EstimateAs(ctx, EstimateInput{URL: url}, owner, class)
}

// EstimateAs is Estimate with all that a caller may say: a page, which must be
// in the upload store, and a label.
func (e *Engine) EstimateAs(ctx context.Context, asked EstimateInput, owner string, class jobs.Class) (*jobs.Job, error) {
	return e.Submit(ctx, KindEstimate, asked, Requester{Owner: owner, Class: class})
}

// Advance looks at a job's record and does what comes next.
func (e *Engine) Advance(ctx context.Context, id string) error {
	job, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return errors.Join(e.jobs.RemoveActive(ctx, id, jobs.Interactive), e.jobs.RemoveActive(ctx, id, jobs.Bulk))
	}
	if err != nil {
		return err
	}
	return e.apply(ctx, job)
}

// Complete stores the output of a step and moves the job on. The job is as it
// was when the step was claimed: what comes next is known from that, and only
// if others have moved it meanwhile the record is looked at.
func (e *Engine) Complete(ctx context.Context, job *jobs.Job, step string, output json.RawMessage) error {
	after := *job
	after.Outputs = maps.Clone(job.Outputs)
	after.Outputs[step] = output
	next, err := advance(&after)
	known := err == nil && next.Failed == nil && len(next.Children) == 0
	if !known {
		next = Next{}
	}
	stored, err := e.jobs.Complete(ctx, job.ID, step, output, next.Steps...)
	if err != nil {
		return err
	}
	if !known || !stored.Accepted {
		return e.Advance(ctx, job.ID)
	}
	if stored.Promoted {
		after.Class = jobs.Interactive
	}
	if next.Result != nil {
		return e.succeed(ctx, &after, next.Result)
	}
	for _, opened := range next.Steps {
		if err := e.enqueue(ctx, &after, opened, 1); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) apply(ctx context.Context, job *jobs.Job) error {
	if job.State.Ended() {
		return e.finalize(ctx, job)
	}
	next, err := advance(job)
	if err != nil { // an output that cannot be read will not get better
		return errors.Join(err, e.Fail(ctx, job.ID, "", "", JobError(err)))
	}
	switch {
	case next.Failed != nil:
		return e.Fail(ctx, job.ID, "", "", next.Failed)
	case next.Result != nil:
		return e.succeed(ctx, job, next.Result)
	}
	for _, step := range next.Steps {
		state, attempt, err := e.jobs.Open(ctx, job.ID, step)
		if err != nil {
			return err
		}
		if state == jobs.StepReady {
			if err := e.enqueue(ctx, job, step, attempt); err != nil {
				return err
			}
		}
	}
	return e.ensureChildren(ctx, job, next.Children)
}

func (e *Engine) succeed(ctx context.Context, job *jobs.Job, result json.RawMessage) error {
	if e.beforeSucceed != nil {
		// A place for the next caller is no reason to keep an answer from this one.
		if err := e.beforeSucceed(ctx, job, result); err != nil && time.Now().Before(job.Deadline) {
			return err
		}
	}
	at, err := e.jobs.Succeed(ctx, job.ID, result)
	if err != nil {
		return err
	}
	if at.IsZero() {
		return e.Advance(ctx, job.ID) // settles it as it ended before, which may be otherwise
	}
	ended := *job
	ended.State, ended.Result, ended.Ended = jobs.Succeeded, result, at
	return e.finalize(ctx, &ended)
}

// Fail ends a job with an error on the word of the run that holds the claim.
func (e *Engine) Fail(ctx context.Context, id, step, claim string, failure *jobs.Error) error {
	if _, err := e.jobs.Fail(ctx, id, step, claim, failure); err != nil {
		return err
	}
	return e.Advance(ctx, id)
}

// enqueue puts the task of an attempt in the queue. That it is there already
// is no error.
func (e *Engine) enqueue(ctx context.Context, job *jobs.Job, step string, attempt int) error {
	task, err := newTask(job, step, attempt)
	if err != nil {
		return err
	}
	_, err = e.client.EnqueueContext(ctx, task)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// EnqueueOnce puts a task that belongs to no job in the queue, once for each slot of
// time however many ask. What it does may be done twice.
func (e *Engine) EnqueueOnce(ctx context.Context, taskType string, slot time.Duration, now time.Time) error {
	policy, ok := policies[taskType]
	if !ok {
		return fmt.Errorf("tasks: no such task %q", taskType)
	}
	_, err := e.client.EnqueueContext(ctx, asynq.NewTask(taskType, []byte("{}")),
		asynq.TaskID(fmt.Sprintf("%s.%d", taskType, now.Truncate(slot).Unix())),
		asynq.Queue(policy.Queue),
		asynq.MaxRetry(policy.MaxRetries),
		asynq.Timeout(policy.Timeout))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}
