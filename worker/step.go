package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"

	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/match"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/tasks"
)

const (
	// writeTimeout bounds how long a write is retried that Redis refuses.
	writeTimeout = 30 * time.Second
	// outageTimeout bounds how long a write is retried while Redis is unavailable: a
	// claim that is not released blocks its step until the step's timeout, and an
	// output that is not stored is fetched again from its site. What waits here is
	// at most what the worker ran when the outage began.
	outageTimeout = 10 * time.Minute
	// maxWriteDelay bounds the time between two tries, and so how long after its
	// return Redis gets what has waited.
	maxWriteDelay = time.Second
)

const (
	// turnMargin is how much longer than its task a place is kept.
	turnMargin = 30 * time.Second
	// turnDelay is how soon a task that has lost its place is looked at again, if the
	// end of another's turn does not run it before.
	turnDelay = 2 * time.Second
)

// sweptAgain is how soon the sweeper looks again at a job of a batch.
const sweptAgain = 10 * time.Second

// errJobEnded stops the run of a step whose job has ended, for example because it
// was cancelled.
var errJobEnded = errors.New("worker: the job has ended")

var errNoTurn = errors.New("worker: other tasks of the same key have all the places that one key may have")

// stepFunc does the work of one step: it gets the job's record and returns the
// output.
type stepFunc func(ctx context.Context, job *jobs.Job) (output any, err error)

// stepHandler runs the steps of jobs: it claims a step, does its work and writes the
// outcome. It does not rely on a task being delivered once, in time or in order.
type stepHandler struct {
	engine *tasks.Engine
	jobs   *jobs.Store
	turns  *pace.Processor
	worker string
	log    *slog.Logger
	// metrics count the runs of steps; nil in tests.
	metrics *metrics.Metrics
	traces  *trace.Tracer       // nil records nothing
	run     map[string]stepFunc // by task type
	// known does the step calculate when all that it needs is cached, else it returns
	// tra.ErrNotKnown; nil in tests.
	known stepFunc
	// hub reports jobs that end while one of their steps runs. Without a hub the handler
	// notices the end when it stores the step's output.
	hub *jobs.Hub
	// claims are those of the runs of this handler, for the sweeper.
	claims sync.Map
	// waits parks the batch rows of a job; nil in tests.
	waits func(ctx context.Context, job *jobs.Job, subscribers []string, wait time.Duration) error
	// outages tells whether TRA's calculator can be asked.
	outages *tra.Outages
	// overdue knows the steps that do not end in time; nil in tests.
	overdue *overdue
	// These bound how long the handler retries to write the outcome of a step: when
	// Redis refuses the write, and while Redis is unavailable.
	writeTimeout, outageTimeout time.Duration
}

// stepRun is one run of a step that this handler has claimed.
type stepRun struct {
	job         *jobs.Job
	step, claim string
	taskType    string
	policy      tasks.Policy
	// continued means that the step follows another in one task: the queue knows
	// only the task of the other.
	continued bool
}

func newStepRun(job *jobs.Job, step, claim string, continued bool) *stepRun {
	taskType := job.Kind + ":" + step
	policy, _ := tasks.PolicyOf(taskType)
	return &stepRun{job, step, claim, taskType, policy, continued}
}

// ProcessTask claims the step of a task, does its work and writes the outcome, and then
// those of the steps that follow and that this handler can do. After an error asynq
// delivers the task again.
func (s *stepHandler) ProcessTask(ctx context.Context, task *asynq.Task) error {
	payload, err := tasks.ParseTaskPayload(task.Payload())
	if err != nil {
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	claim := ulid.Make().String() // names this run until it has written its outcome
	s.claims.Store(claim, nil)
	defer s.claims.Delete(claim)
	turn := s.beginTurn(ctx, payload.Key)
	defer turn.end() //nolint:contextcheck // turn has the context of the task
	job, err := s.engine.Claim(ctx, payload, s.worker, claim)
	if turnErr := turn.wait(); err == nil && job != nil {
		err = turnErr
	}
	if err != nil { // the reply may have been lost after the claim was stored
		return s.release(ctx, payload, claim, false, err)
	}
	if job == nil {
		s.log.Debug("task skipped", "job", payload.Job, "step", payload.Step, "attempt", payload.Attempt)
		return nil
	}
	for run := newStepRun(job, payload.Step, claim, false); run != nil && err == nil; {
		run, err = s.process(ctx, run)
	}
	return err
}

// process does the work of a claimed step and writes the outcome. It returns the run of
// the next step when that was claimed too.
func (s *stepHandler) process(ctx context.Context, run *stepRun) (next *stepRun, err error) {
	ctx, span := s.beginSpan(ctx, run)
	ctx = logs.With(ctx, "job", run.job.ID, "kind", run.job.Kind, "step", run.step, "site", pageHostOf(run.job),
		"key", run.job.Owner, "request", run.job.Origin.Request)
	o := s.work(ctx, run)
	defer span.End(o.err)
	s.report(ctx, run, o)
	if o.state == metrics.Retried || o.state == metrics.Postponed {
		return nil, s.retryLater(ctx, run, o)
	}
	return s.write(ctx, run, o)
}

// turn is the place of a person's task among the tasks of other keys. The zero value
// belongs to a task of a batch, which needs no place.
type turn struct {
	s         *stepHandler
	ctx       context.Context //nolint:containedctx // that of the task
	queue, id string
	owner     string
	ready     bool
	err       error
	begun     sync.WaitGroup
}

// beginTurn takes the place of a task that was delivered, while the caller claims its
// step. One that is delivered for the first time has a place already; one that is
// retried may have to wait again.
func (s *stepHandler) beginTurn(ctx context.Context, owner string) *turn {
	queue, named := asynq.GetQueueName(ctx)
	if owner == "" || !named || tasks.IsBulkQueue(queue) {
		return &turn{ready: true}
	}
	s.turns.PersonGoesOn()
	id, _ := asynq.GetTaskID(ctx)
	t := &turn{s: s, ctx: ctx, queue: queue, id: id, owner: owner}
	lease := time.Duration(0) // a task has a deadline
	if deadline, ok := ctx.Deadline(); ok {
		lease = time.Until(deadline) + turnMargin
	}
	t.begun.Go(func() { t.ready, t.err = s.engine.BeginTurn(ctx, queue, owner, id, lease) })
	return t
}

// wait returns nil when the task has its place.
func (t *turn) wait() error {
	t.begun.Wait()
	switch {
	case t.err != nil:
		return t.err
	case !t.ready:
		return &retryError{turnDelay, tasks.Snooze(turnDelay, errNoTurn)}
	}
	return nil
}

// end gives the place back. A failure is harmless: the place is a lease.
func (t *turn) end() {
	t.begun.Wait()
	if t.owner == "" || !t.ready {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), writeTimeout)
	defer cancel()
	if err := t.s.engine.EndTurn(ctx, t.queue, t.owner, t.id); err != nil {
		t.s.log.Warn("place of a task is not given back before its lease ends", "task", t.id, "error", err)
	}
}

// beginSpan begins the span of one run of a step, in the trace of the request that caused
// the job, and records how long the first step waited in the queue.
func (s *stepHandler) beginSpan(ctx context.Context, run *stepRun) (context.Context, *trace.Span) {
	job := run.job
	if len(job.Outputs) == 0 && job.Steps[run.step].Retries == 0 {
		s.traces.Waited(ctx, job.Origin.Trace, job.Created, "queue "+run.policy.Queue, "ushuru.job", job.ID)
	}
	return s.traces.Join(ctx, job.Origin.Trace, trace.Consumer, run.taskType, "ushuru.job", job.ID, "ushuru.step", run.step,
		"ushuru.class", string(job.Class), "ushuru.key", job.Owner, "ushuru.request", job.Origin.Request,
		"ushuru.attempt", job.Steps[run.step].Attempt)
}

// work does the work of a step, and that of the next when it may follow at once.
func (s *stepHandler) work(ctx context.Context, run *stepRun) (o outcome) {
	started := time.Now()
	o.output, o.err = s.runStep(ctx, run.taskType, s.run[run.taskType], run.job)
	o.err = snoozeOutage(o.err)
	o.took = time.Since(started)
	if o.err == nil {
		o.early = s.runEarly(ctx, run, o.output)
	}
	o.all = time.Since(started)
	o.state, o.delay = run.judge(ctx, o.err)
	return o
}

// runStep runs a step within its timeout, and stops it with errJobEnded when the
// job ends meanwhile. It returns a panic as an error.
func (s *stepHandler) runStep(
	ctx context.Context, taskType string, run stepFunc, job *jobs.Job,
) (output json.RawMessage, err error) {
	policy, hasPolicy := tasks.PolicyOf(taskType)
	if run == nil || !hasPolicy {
		return nil, fmt.Errorf("worker: no handler for %q", taskType)
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, stop := context.WithCancelCause(pace.WithOwner(ctx, job.Caller()))
	defer stop(nil)
	if s.hub != nil && job.ID != "" { // else there is no record
		watching.Go(func() {
			if s.hub.WaitEnded(ctx, job.ID) == nil {
				stop(errJobEnded)
			}
		})
	}
	limited, cancel := context.WithTimeout(ctx, policy.Timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("worker: panic in %s: %v\n%s", taskType, p, debug.Stack())
		}
	}()
	var value any
	s.overdue.watch(limited, taskType, policy.Timeout, func() { value, err = run(limited, job) })
	switch {
	case err == nil:
		return plainjson.Encode(value)
	case errors.Is(context.Cause(ctx), errJobEnded):
		return nil, errJobEnded
	}
	return nil, err
}

// runEarly runs the step calculate at once after the step match. It returns nil after another step,
// or when the step fails for whatever reason: then its own task decides.
func (s *stepHandler) runEarly(ctx context.Context, run *stepRun, output json.RawMessage) []tasks.StepOutput {
	if run.step != tasks.StepMatch || s.known == nil {
		return nil
	}
	after, taskType := *run.job, run.job.Kind+":"+tasks.StepCalculate
	after.Outputs = maps.Clone(run.job.Outputs)
	after.Outputs[run.step] = output
	ctx, span := trace.Start(ctx, trace.Internal, taskType, "ushuru.job", after.ID, "ushuru.step", tasks.StepCalculate)
	result, err := s.runStep(ctx, taskType, s.known, &after)
	span.End(nil) // that it needs the authority is no failure
	if err != nil {
		if !errors.Is(err, tra.ErrNotKnown) {
			s.log.DebugContext(ctx, "early step left to its task", "step", tasks.StepCalculate, "error", err)
		}
		return nil
	}
	return []tasks.StepOutput{{Step: tasks.StepCalculate, Output: result}}
}

// An estimate of a vehicle whose tax is cached is calculated by the worker that matched it, so that
// no task of it goes to the role authority, which may be at the end of a long line.

// fallback runs the step calculate, which waits for a worker of the role authority, while none can
// ask TRA's calculator, when all that it needs is cached, expired or not: such a step was
// enqueued before the outage, and perhaps for a worker whose line is cut. The rows of
// a step that must wait give up their places.
func (s *stepHandler) fallback(ctx context.Context, job *jobs.Job, step string) (json.RawMessage, bool) {
	if step != tasks.StepCalculate || s.outages.Now(ctx).Reason == "" {
		return nil, false
	}
	output, err := s.runStep(ctx, job.Kind+":"+step, s.known, job)
	if err != nil {
		s.parkRows(ctx, job, sweptAgain)
		return nil, false
	}
	countStep(s.metrics, job, step, metrics.Completed, "", 0)
	return output, true
}

// write writes the outcome of a run that is not retried: the output, or the end of the
// job. The next step is claimed with the output when this handler can run that too.
func (s *stepHandler) write(ctx context.Context, run *stepRun, o outcome) (next *stepRun, err error) {
	var continuation *tasks.Continuation
	live := ctx.Err() == nil // as it is before the write, so that a retry claims the same
	canRun := func(taskType string) bool { return live && s.run[taskType] != nil }
	by := tasks.Run{Worker: s.worker, Claim: run.claim, CanRun: canRun}
	err = s.persist(ctx, func(ctx context.Context) (err error) {
		switch o.state {
		case metrics.Completed:
			continuation, err = s.engine.Complete(ctx, run.job, run.step, o.output, by, o.early...)
		case metrics.Cancelled: // not an error, or asynq would deliver the task again
			err = s.engine.Advance(ctx, run.job.ID)
		default:
			failure := tasks.JobError(o.err)
			err = s.engine.End(ctx, run.job, jobs.End{State: jobs.Failed, Error: failure, Step: run.step, Claim: run.claim})
		}
		return err
	})
	switch {
	case o.state == metrics.Completed && err != nil && !errors.Is(err, tasks.ErrNotifyIncomplete):
		// The reply may have been lost after the next step was claimed.
		return nil, s.release(ctx, run.payload(), run.claim, false, err)
	case continuation == nil:
		return nil, err
	}
	return newStepRun(continuation.Job, continuation.Step, run.claim, true), err
}

// retryLater releases a step that failed, so that it is retried after a delay. The
// error that it returns makes asynq deliver the task again; a continued step gets a
// task of its own instead.
func (s *stepHandler) retryLater(ctx context.Context, run *stepRun, o outcome) error {
	failure, ok := errors.AsType[*tasks.StepError](o.err)
	if ok && failure.Code == match.AIUnavailable && o.state == metrics.Postponed {
		s.parkRows(ctx, run.job, o.delay)
	}
	countsAsRetry := o.state == metrics.Retried && ctx.Err() == nil
	if !run.continued || ctx.Err() != nil {
		return s.release(ctx, run.payload(), run.claim, countsAsRetry, &retryError{o.delay, o.err})
	}
	// The task comes first: a ready step without one would be given to another
	// worker before the delay is over.
	return s.persist(ctx, func(ctx context.Context) error {
		if err := s.engine.EnqueueAfter(ctx, run.job, run.step, o.delay); err != nil {
			return err
		}
		return s.jobs.Release(ctx, run.job.ID, run.claim, countsAsRetry)
	})
}

// payload returns what the task of the step has.
func (r *stepRun) payload() tasks.TaskPayload {
	return tasks.TaskPayload{Job: r.job.ID, Step: r.step, Attempt: r.job.Steps[r.step].Attempt}
}

// release gives back what a run has claimed, so that it is done later, and returns why. When
// Redis was away for so long that asynq has given up the task, which it would bring again
// only after a minute or two, release enqueues the step itself.
func (s *stepHandler) release(
	parent context.Context, payload tasks.TaskPayload, claim string, countsAsRetry bool, cause error,
) error {
	away := false
	err := s.persist(parent, func(ctx context.Context) error {
		err := s.jobs.Release(ctx, payload.Job, claim, countsAsRetry)
		if err != nil {
			away = true
		} else if away && parent.Err() != nil {
			err = s.engine.Redeliver(ctx, payload.Job, payload.Step, payload.Attempt)
		}
		return err
	})
	return errors.Join(cause, err)
}

// persist writes the outcome of a step: a claim that no worker releases blocks the step
// until its timeout.
func (s *stepHandler) persist(ctx context.Context, write func(context.Context) error) error {
	return persist(ctx, s.writeTimeout, s.outageTimeout, write)
}

// persist retries a write while Redis is unavailable, for as long as outage, also
// when the process is shutting down or the task's time is up. A write that Redis
// refuses for another reason is retried for as long as timeout. Subscribers that
// could not be notified are left to asynq and the sweeper, so that they do not block
// this worker.
func persist(ctx context.Context, timeout, outage time.Duration, write func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(timeout, outage))
	defer cancel()
	started := time.Now()
	policy := pace.Backoff{
		InitialDelay: 100 * time.Millisecond, MaxDelay: maxWriteDelay,
		IsPermanent: func(err error) bool {
			return errors.Is(err, tasks.ErrNotifyIncomplete) || !redisx.IsUnavailable(err) && time.Since(started) > timeout
		},
	}
	return pace.Retry(ctx, policy, func() error { return write(ctx) })
}

// beginComputing waits until a step may use a processor, and returns the function that ends that
// use: the step must not wait for a network meanwhile. Steps of batches yield to those of people.
func beginComputing(ctx context.Context, turns *pace.Processor, job *jobs.Job) (end func(), err error) {
	if job.Class == jobs.Bulk {
		return turns.BeginBatch(ctx)
	}
	turns.PersonGoesOn()
	return func() {}, nil
}

// parkRows parks the batch rows of a job that waits for something that is away, so
// that they do not keep others from running. Rows that could not be parked wait in
// their places.
func (s *stepHandler) parkRows(ctx context.Context, job *jobs.Job, wait time.Duration) {
	if s.waits == nil {
		return
	}
	subscribers, err := s.jobs.Subscribers(ctx, job.ID)
	if err == nil {
		err = s.waits(ctx, job, subscribers, wait)
	}
	if err != nil {
		s.log.WarnContext(ctx, "batch rows that wait were not parked", "job", job.ID, "error", err)
	}
}
