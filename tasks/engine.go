package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/refusal"
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
	// IsRunning reports whether a worker is this process's, and if so whether a claim
	// of its is still running. After Redis has gone back in time a step may be claimed
	// by a run that has ended. Nil knows of no worker.
	IsRunning func(worker, claim string) (own, running bool)
	// Fallback returns the output of a step that waits for a worker, when it can be made
	// without one and no worker can be expected to run the step now. Sweep asks for it.
	// Nil makes none.
	Fallback func(ctx context.Context, job *jobs.Job, step string) (output json.RawMessage, ok bool)
	// Ask returns what a worker far away from Redis must know to run a step of the role
	// authority; nil for nothing. It is nil in processes that run no steps.
	Ask func(job *jobs.Job, step string) json.RawMessage
	// OnLost is called with a job that Sweep has ended because no worker did a step of
	// its: "" for its children. Nil is not called.
	OnLost func(job *jobs.Job, step string, failure *jobs.Error)
	// OnEnd, if not nil, is called once with every job that this process ends, as it is
	// then; not when the process dies in between.
	OnEnd func(job *jobs.Job)
	// OnTakeover, if not nil, is called with every step that is given to another worker
	// because its own is gone.
	OnTakeover func(job *jobs.Job, step string)
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
	notifiers     map[string]Notifier // by the first word of a subscriber
	isRunning     func(worker, claim string) (own, running bool)
	fallback      func(ctx context.Context, job *jobs.Job, step string) (json.RawMessage, bool)
	onLost        func(job *jobs.Job, step string, failure *jobs.Error)
	sequential    bool
	turns         *fair.Turns
	redis         redis.UniversalClient
	onEnd         func(job *jobs.Job)
	onTakeover    func(job *jobs.Job, step string)
	ask           func(job *jobs.Job, step string) json.RawMessage
}

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{
		jobs: o.Jobs, results: o.Results, webhooks: o.Webhooks,
		client:        asynq.NewClientFromRedisClient(o.Redis),
		inspector:     asynq.NewInspectorFromRedisClient(o.Redis),
		beforeSucceed: o.BeforeSucceed, notifiers: map[string]Notifier{}, isRunning: o.IsRunning, sequential: o.Sequential,
		fallback: o.Fallback, onLost: o.OnLost, turns: fair.NewTurns(o.Redis), redis: o.Redis, ask: o.Ask,
		onEnd: o.OnEnd, onTakeover: o.OnTakeover,
	}
	maps.Copy(e.notifiers, o.Notifiers)
	e.notifiers[subscriberJob], e.notifiers[subscriberKey] = e.notifyJobs, e.notifyKeys
	return e
}

// Requester says for whom a job is made.
type Requester struct {
	Owner string // id of the API key
	Class jobs.Class
	// Query is that of the URL at which the API key reads the result: the event about its end
	// has that URL.
	Query string
	// Subscriber is notified of the job's end: another job, or a name whose first
	// word has a Notifier. An empty Subscriber means the API key itself.
	Subscriber string
	// Attachment is the page or file that came with the request, for the workers; nil
	// for none. It is deleted when the job ends. A job that is joined has one already.
	Attachment []byte
}

// isCaller reports whether the API key itself waits for the job.
func (r Requester) isCaller() bool { return r.Subscriber == "" && r.Owner != "" }

func (r Requester) subscriber() string {
	if r.isCaller() {
		return keySubscriber(r.Owner, r.Query)
	}
	return r.Subscriber
}

// Submit returns the job for an input: a new one, or the running one of the same
// kind and input, which is promoted when it is bulk and the requester is not. It
// does not read the cache (see CachedResult).
func (e *Engine) Submit(ctx context.Context, kind string, input any, by Requester) (*jobs.Job, error) {
	canonical, err := plainjson.Encode(input)
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
	first, err := flow.advance(&jobs.Job{Kind: kind, Class: by.Class, Owner: by.Owner, Input: canonical, State: jobs.Queued})
	if err != nil {
		return nil, err
	}
	job, joined, err := e.jobs.Create(ctx, jobs.New{
		Kind: kind, Class: by.Class, Owner: by.Owner, Input: canonical, Deadline: deadline, Subscriber: by.subscriber(),
		Attachment: by.Attachment, Listed: by.isCaller(),
	}, first.Steps...)
	switch {
	case err != nil:
		return nil, err
	case !joined:
		return job, e.advanceFrom(ctx, job)
	case by.Class != jobs.Interactive || job.State.Ended():
		return job, nil
	case job.Class == jobs.Bulk:
		return e.promote(ctx, job, by.Owner)
	}
	return job, e.joinTurn(ctx, job, by.Owner)
}

// DedupKey returns the hash under which equal inputs of a kind share one job.
func DedupKey(kind string, input any) (string, error) {
	canonical, err := plainjson.Encode(input)
	return jobs.DedupKey(kind, canonical), err
}

// Estimate submits the estimate of a listing. The URL must be canonical.
func (e *Engine) Estimate(ctx context.Context, url, owner string, class jobs.Class) (*jobs.Job, error) {
	return e.Submit(ctx, KindEstimate, EstimateInput{URL: url}.For(owner), Requester{Owner: owner, Class: class})
}

// StepOutput is the output of a step.
type StepOutput struct {
	Step   string
	Output json.RawMessage
}

// Run is one run of a handler. It can go on with a job's next step in the same
// task.
type Run struct {
	Worker, Claim string                     // as in jobs.Step
	CanRun        func(taskType string) bool // reports whether the run can go on with a step; nil: with none
}

// goesOnWith returns the step that a run can go on with; "" for none.
func (r Run) goesOnWith(kind string, next Next) string {
	if r.CanRun == nil || len(next.Steps) != 1 || !r.CanRun(kind+":"+next.Steps[0]) {
		return ""
	}
	return next.Steps[0]
}

// Continuation is a job whose next step was claimed together with the completion
// of the step before.
type Continuation struct {
	Job  *jobs.Job
	Step string
}

// Complete stores the output of a step and advances the job. The job is as it
// was when the step was claimed: what comes next is known from it, and is stored
// together with the output. Only when another process has changed the job in
// between, or when children come next, the record is read again. A next step that
// the run can go on with is claimed for it and returned.
//
// early, if any, are outputs of the steps that follow, in their order, which the
// same run has made. They are used when the job ends with them.
func (e *Engine) Complete(
	ctx context.Context, job *jobs.Job, step string, output json.RawMessage, by Run, early ...StepOutput,
) (*Continuation, error) {
	after := *job
	after.Outputs, after.Steps = maps.Clone(job.Outputs), maps.Clone(job.Steps)
	after.Outputs[step] = output
	if ended, err := e.finishWith(ctx, &after, step, early); ended || err != nil {
		return nil, err
	}
	next, err := advance(&after)
	known := err == nil && next.Failed == nil && len(next.Children) == 0
	if !known {
		next = Next{}
	}
	var stored jobs.Completed
	continued := by.goesOnWith(job.Kind, next)
	if continued != "" {
		stored, err = e.jobs.Continue(ctx, job.ID, step, output, continued, by.Worker, by.Claim)
	} else {
		stored, err = e.jobs.Complete(ctx, job.ID, step, output, next.Steps...)
	}
	if err != nil {
		return nil, err
	}
	if !known || !stored.Accepted {
		return nil, e.Advance(ctx, job.ID)
	}
	if stored.Promoted {
		after.Class = jobs.Interactive
	}
	if continued != "" {
		after.Steps[continued] = jobs.Step{State: jobs.StepClaimed, Attempt: 1, Worker: by.Worker, Claim: by.Claim}
		return &Continuation{&after, continued}, nil
	}
	for _, opened := range next.Steps {
		after.Steps[opened] = jobs.Step{State: jobs.StepReady, Attempt: 1}
	}
	return nil, e.advanceFrom(ctx, &after)
}

// finishWith ends a job whose last outputs have just been made: that of a step, and
// early ones of the steps that follow. It reports false when more has to be done.
func (e *Engine) finishWith(ctx context.Context, job *jobs.Job, step string, early []StepOutput) (bool, error) {
	last := *job
	last.Outputs = maps.Clone(job.Outputs)
	steps := append(make([]string, 0, 1+len(early)), step)
	for _, output := range early {
		last.Outputs[output.Step] = output.Output
		steps = append(steps, output.Step)
	}
	next, err := advance(&last)
	if err != nil || next.Result == nil {
		return false, nil //nolint:nilerr // the caller does what comes next
	}
	if err := e.cacheResult(ctx, job, next.Result); err != nil {
		// What was made is kept, so that it is not made again.
		_, storeErr := e.jobs.Complete(ctx, job.ID, step, job.Outputs[step])
		return true, errors.Join(err, storeErr)
	}
	finished, err := e.jobs.Finish(ctx, job, next.Result, steps...)
	if err != nil {
		return true, err
	}
	if finished.At.IsZero() {
		return true, e.Advance(ctx, job.ID)
	}
	ended := endedAs(job, next.Result, finished)
	e.countEnd(ended)
	return true, e.notifyEnd(ctx, ended, finished.Subscribers)
}

// endedAs returns the record of a job as it is after Finish.
func endedAs(job *jobs.Job, result json.RawMessage, finished jobs.Finished) *jobs.Job {
	ended := *job
	ended.State, ended.Result, ended.Ended, ended.Kept = jobs.Succeeded, result, finished.At, finished.Kept
	if finished.Promoted {
		ended.Class = jobs.Interactive
	}
	return &ended
}

// EnqueueAfter enqueues the task of the present attempt at a step, to be delivered
// after a delay.
func (e *Engine) EnqueueAfter(ctx context.Context, job *jobs.Job, step string, delay time.Duration) error {
	task, err := newTask(job, step, job.Steps[step].Attempt, nil, "")
	if err != nil {
		return err
	}
	return e.enqueueTask(ctx, task, asynq.ProcessIn(delay))
}

// IsNext reports whether the outputs are there that a claimed step needs. They are not
// when Redis has gone back in time while a run did several steps: it stored the output
// of a later step in a record that has lost those before.
func IsNext(job *jobs.Job, step string) bool {
	next, err := advance(job)
	return err != nil || next.Result != nil || next.Failed != nil || slices.Contains(next.Steps, step)
}

// Postpone releases a claimed step whose turn has not come, see IsNext, and advances the
// job: the outputs that are missing are made first. The sweeper looks soon for the run
// that has lost them.
func (e *Engine) Postpone(ctx context.Context, job *jobs.Job, step, claim string) error {
	if err := e.jobs.Release(ctx, job.ID, step, claim, false); err != nil {
		return err
	}
	if err := e.Advance(ctx, job.ID); err != nil {
		return err
	}
	return e.jobs.ScheduleCheck(ctx, job.ID, job.Class, recheckRunning)
}

// Fail ends a job with an error. With a claim it does so only while that claim
// on the step is valid.
func (e *Engine) Fail(ctx context.Context, id, step, claim string, failure *jobs.Error) error {
	ended, err := e.jobs.Fail(ctx, id, step, claim, failure)
	if err != nil {
		return err
	}
	return e.advanceEnded(ctx, id, ended)
}

// advanceEnded is Advance of a job that the caller has ended, or has tried to.
func (e *Engine) advanceEnded(ctx context.Context, id string, ended bool) error {
	job, err := e.jobs.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return e.Advance(ctx, id)
	case err != nil:
		return err
	case ended:
		e.countEnd(job)
	}
	return e.advanceFrom(ctx, job)
}

// countEnd reports a job that this process has ended.
func (e *Engine) countEnd(job *jobs.Job) {
	if e.onEnd != nil && job.State.Ended() {
		e.onEnd(job)
	}
}

// Advance reads a job's record and does what comes next, until the job waits for
// a step or a child, or is finalized.
func (e *Engine) Advance(ctx context.Context, id string) error {
	job, err := e.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return errors.Join(e.jobs.RemoveActive(ctx, id, jobs.Interactive), e.jobs.RemoveActive(ctx, id, jobs.Bulk))
	}
	if err != nil {
		return err
	}
	return e.advanceFrom(ctx, job)
}

// advanceFrom advances a job from its record as it was just read or written.
func (e *Engine) advanceFrom(ctx context.Context, job *jobs.Job) error {
	var invalid error
	for !job.State.Ended() {
		next, err := advance(job)
		if err != nil { // an output that cannot be decoded now cannot be decoded later
			next, invalid = Next{Failed: JobError(err)}, err
		}
		if job, err = e.apply(ctx, job, next); err != nil || job == nil {
			return err
		}
	}
	return errors.Join(invalid, e.finalize(ctx, job))
}

// apply does what advance returned. It returns the record as it is afterwards
// when the job has ended or a child of it has; nil when the job now waits.
func (e *Engine) apply(ctx context.Context, job *jobs.Job, next Next) (*jobs.Job, error) {
	switch {
	case next.Failed != nil:
		ended, err := e.jobs.Fail(ctx, job.ID, "", "", next.Failed)
		if err != nil {
			return nil, err
		}
		after, err := e.jobs.Get(ctx, job.ID)
		if err == nil && ended {
			e.countEnd(after)
		}
		return after, err
	case next.Result != nil:
		return e.succeed(ctx, job, next.Result)
	}
	for _, name := range next.Steps {
		step, opened := job.Steps[name]
		if !opened {
			var err error
			if step, err = e.jobs.Open(ctx, job.ID, name); err != nil {
				return nil, err
			}
		}
		if step.State == jobs.StepReady {
			if err := e.enqueue(ctx, job, name, step.Attempt); err != nil {
				return nil, err
			}
		}
	}
	changed, err := e.ensureChildren(ctx, job, next.Children)
	if err != nil || !changed {
		return nil, err
	}
	return e.jobs.Get(ctx, job.ID)
}

// cacheResult caches the result of a job before it ends. Past the deadline a full
// cache no longer keeps the result from the caller.
func (e *Engine) cacheResult(ctx context.Context, job *jobs.Job, result json.RawMessage) error {
	if e.beforeSucceed == nil {
		return nil
	}
	if err := e.beforeSucceed(ctx, job, result); err != nil && time.Now().Before(job.Deadline) {
		return err
	}
	return nil
}

// succeed ends a job with its result and returns the record as it is then. An
// earlier end, for example a cancellation, stays.
func (e *Engine) succeed(ctx context.Context, job *jobs.Job, result json.RawMessage) (*jobs.Job, error) {
	if err := e.cacheResult(ctx, job, result); err != nil {
		return nil, err
	}
	finished, err := e.jobs.Finish(ctx, job, result)
	if err != nil {
		return nil, err
	}
	if finished.At.IsZero() {
		return e.jobs.Get(ctx, job.ID)
	}
	ended := endedAs(job, result, finished)
	e.countEnd(ended)
	return ended, nil
}

// finalize does what is left after the end of a job, whichever way it ended: it
// publishes the end, so that waiting requests return and the next request of the
// same input starts a new job; it releases the children of a cancelled job; it
// notifies the subscribers. It may run twice: the sweeper calls it until it has
// once returned without an error.
func (e *Engine) finalize(ctx context.Context, job *jobs.Job) error {
	var remember time.Duration
	if job.Error != nil && job.Error.Permanent && refusal.IsDefinite(job.Error.Code) && job.Kind != KindCompare {
		remember = jobs.RefusalTTL
	}
	subscribers, err := e.jobs.PublishEnd(ctx, job, remember)
	if err != nil {
		return err
	}
	if job.State == jobs.Cancelled {
		if err := e.releaseChildren(ctx, job); err != nil {
			return err
		}
	}
	return e.notifyEnd(ctx, job, subscribers)
}

// notifyEnd notifies the subscribers of a job whose end was published.
func (e *Engine) notifyEnd(ctx context.Context, job *jobs.Job, subscribers []string) error {
	if err := e.notify(ctx, job, subscribers); err != nil {
		return fmt.Errorf("%w: %w", ErrNotifyIncomplete, err)
	}
	return e.jobs.MarkFinalized(ctx, job)
}

func (e *Engine) enqueueTask(ctx context.Context, task *asynq.Task, options ...asynq.Option) error {
	info, err := e.client.EnqueueContext(ctx, task, options...)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	if err == nil && len(options) == 0 {
		e.wake(ctx, info.Queue)
	}
	return err
}
