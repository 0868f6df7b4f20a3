package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"

	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/match"
	"ushuru/pkg/metrics"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/retry"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/tasks"
)

const (
	initialBackoff = time.Second
	maxBackoff     = 30 * time.Second
	minSnooze      = time.Second // asynq counts in whole seconds
)

// stepFunc does the work of one step: it gets the job's record and returns the
// output.
type stepFunc func(ctx context.Context, job *jobs.Job) (output any, err error)

// stepHandler runs the steps of jobs. It does not rely on a task being delivered
// once, in time or in order.
type stepHandler struct {
	engine *tasks.Engine
	jobs   *jobs.Store
	worker string
	log    *slog.Logger
	// metrics count the runs of steps; nil in tests.
	metrics *metrics.Metrics
	traces  *trace.Tracer       // nil records nothing
	run     map[string]stepFunc // by task type
	// early has the steps that a run may do at once after its own, by task type.
	early map[string]earlyStep
	// hub reports jobs that end while a step of theirs runs. Without a hub the handler
	// notices the end when it stores the step's output.
	hub *jobs.Hub
	// claims are those of the runs of this handler, for the sweeper; nil in tests.
	claims *sync.Map
	// waits parks the batch rows of a job; nil in tests.
	waits func(ctx context.Context, job *jobs.Job, subscribers []string, wait time.Duration) error
	// outages tells whether TRA's calculator can be asked.
	outages *tra.Outages
	// These bound how long the handler retries to write the outcome of a step: when
	// Redis refuses the write, and while Redis is unavailable.
	writeTimeout, outageTimeout time.Duration
}

// errJobEnded stops the run of a step whose job has ended, for example because it
// was cancelled.
var errJobEnded = errors.New("worker: the job has ended")

// retryError is a failed step that asynq must deliver again after a delay. The
// delay is in the error because asynq's own retry count starts again when a step
// is requeued; the count of the job's record does not.
type retryError struct {
	delay time.Duration
	cause error
}

// Error is written into asynq's record of the task.
func (e *retryError) Error() string { return logs.Redact(e.cause.Error()) }
func (e *retryError) Unwrap() error { return e.cause }

// retryDelay tells asynq when to deliver a task again.
func retryDelay(retries int, err error, _ *asynq.Task) time.Duration {
	if failed, ok := errors.AsType[*retryError](err); ok {
		return failed.delay
	}
	return backoff(retries, err)
}

// ProcessTask claims the step of a task, runs it, stores its output and advances
// the job. After an error asynq delivers the task again.
func (s *stepHandler) ProcessTask(ctx context.Context, task *asynq.Task) error {
	payload, err := tasks.ParseTaskPayload(task.Payload())
	if err != nil {
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	claim := s.newClaim() // until this run has written its outcome
	defer s.dropClaim(claim)
	turn := s.beginTurn(ctx, task, payload)
	defer turn.end() //nolint:contextcheck // turn has the context of the task
	result, job, err := s.jobs.Claim(ctx, payload.Job, payload.Step, payload.Attempt, s.worker, claim)
	turnErr := turn.wait()
	if err == nil && result == jobs.Claimed {
		err = turnErr
	}
	if err != nil { // the reply may have been lost after the claim was stored
		return errors.Join(err, s.release(ctx, payload, claim, false))
	}
	log := s.log.With("job", payload.Job)
	switch result {
	case jobs.Claimed:
		if !tasks.IsNext(job, payload.Step) {
			log.Info("step postponed: outputs that it needs were lost", "step", payload.Step)
			return s.retryWrite(ctx, func(ctx context.Context) error { return s.engine.Postpone(ctx, job, payload.Step, claim) })
		}
		log = log.With("kind", job.Kind, "site", siteOf(tasks.URLsOf(job)...), "key", job.Owner, "request", job.Origin.Request)
		return s.runClaimed(ctx, task.Type(), job, payload, claim, log)
	case jobs.AlreadyDone, jobs.JobEnded, jobs.Stale, jobs.NotFound:
	}
	return s.notClaimed(ctx, payload, result)
}

// newClaim returns the name of a new run.
func (s *stepHandler) newClaim() string {
	claim := ulid.Make().String()
	if s.claims != nil {
		s.claims.Store(claim, nil)
	}
	return claim
}

// dropClaim ends a run.
func (s *stepHandler) dropClaim(claim string) {
	if s.claims != nil {
		s.claims.Delete(claim)
	}
}

// notClaimed ends the task of a step that was not claimed.
func (s *stepHandler) notClaimed(ctx context.Context, payload tasks.TaskPayload, result jobs.ClaimResult) error {
	if result == jobs.AlreadyDone || result == jobs.JobEnded {
		return s.engine.Advance(ctx, payload.Job)
	}
	s.log.Debug("task skipped", "job", payload.Job, "step", payload.Step, "attempt", payload.Attempt, "result", result)
	return nil
}

// siteOf returns the host of the first of the URLs of listings.
func siteOf(listings ...string) string {
	for _, listing := range listings {
		if parsed, err := url.Parse(listing); err == nil {
			return parsed.Hostname()
		}
	}
	return ""
}

// stepRun is one run of a step by this handler.
type stepRun struct {
	taskType string
	job      *jobs.Job
	step     string
	claim    string
	// continued means that the step follows another in one task: the queue knows
	// only the task of the other.
	continued bool
}

// runClaimed runs a step that this handler has claimed, and those that follow it
// and that this handler can run.
func (s *stepHandler) runClaimed(
	ctx context.Context, taskType string, job *jobs.Job, payload tasks.TaskPayload, claim string, log *slog.Logger,
) error {
	run := stepRun{taskType: taskType, job: job, step: payload.Step, claim: claim}
	for {
		next, err := s.runOnce(ctx, run, log.With("step", run.step, "attempt", run.job.Steps[run.step].Attempt))
		if err != nil || next == nil {
			return err
		}
		run = stepRun{next.Job.Kind + ":" + next.Step, next.Job, next.Step, claim, true}
	}
}

// runOnce runs a claimed step and writes its outcome: the output, the end of the
// job, or the release of the claim for a retry. It returns the next step when that
// was claimed too.
func (s *stepHandler) runOnce(ctx context.Context, run stepRun, log *slog.Logger) (*tasks.Continuation, error) {
	job := run.job
	ctx, span := s.beginSpan(ctx, run)
	started := time.Now()
	output, err := s.runStep(ctx, run.taskType, s.run[run.taskType], job)
	took := time.Since(started)
	err = snoozeOutage(err)
	defer func() { span.End(err) }()
	var early []tasks.StepOutput
	if err == nil {
		early = s.runEarly(ctx, run.taskType, run.step, job, output)
	}
	all := time.Since(started)
	log = log.With("duration", all)
	retries := job.Steps[run.step].Retries
	delay := backoff(retries, err)
	switch {
	case err == nil:
		log.Info("step completed", "early_steps", len(early))
		s.countCompleted(run, early, took, all-took)
		return s.complete(ctx, run, output, early)
	case errors.Is(err, errJobEnded): // not an error, or asynq would deliver the task again
		log.Info("step cancelled: job has ended")
		s.countRun(run, metrics.Cancelled, nil, took)
		return nil, s.retryWrite(ctx, func(ctx context.Context) error { return s.engine.Advance(ctx, job.ID) })
	case isFinal(ctx, run.taskType, job, retries, delay, err):
		failure := tasks.JobError(err)
		log.Log(ctx, levelOf(err), "step failed", "code", failure.Code, "retries", retries, "error", err)
		s.countRun(run, metrics.Failed, err, took)
		return nil, s.retryWrite(ctx, func(ctx context.Context) error {
			return s.engine.End(ctx, job, jobs.End{State: jobs.Failed, Error: failure, Step: run.step, Claim: run.claim})
		})
	}
	level, outcome := slog.LevelWarn, metrics.Retried
	if !tasks.IsFailure(err) {
		level, outcome = slog.LevelDebug, metrics.Postponed
	}
	s.countRun(run, outcome, err, took)
	log.Log(ctx, level, "step will be retried", "retries", retries, "error", err)
	if failure, ok := errors.AsType[*tasks.StepError](err); ok && failure.Code == match.AIUnavailable && !tasks.IsFailure(err) {
		s.parkRows(ctx, job, delay)
	}
	return nil, s.retryLater(ctx, run, delay, err)
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

// complete stores the output of a step. The next step is claimed with it when
// this handler can run that too.
func (s *stepHandler) complete(
	ctx context.Context, run stepRun, output json.RawMessage, early []tasks.StepOutput,
) (next *tasks.Continuation, err error) {
	// Both are decided before the write, so that CanRun answers the same when the write
	// is retried.
	queue, live := queueOf(run.taskType), ctx.Err() == nil
	by := tasks.Run{Worker: s.worker, Claim: run.claim, CanRun: func(taskType string) bool {
		return live && s.run[taskType] != nil && queueOf(taskType) == queue
	}}
	err = s.retryWrite(ctx, func(ctx context.Context) error {
		next, err = s.engine.Complete(ctx, run.job, run.step, output, by, early...)
		return err
	})
	if err == nil || errors.Is(err, tasks.ErrNotifyIncomplete) {
		return next, err
	}
	// The reply may have been lost after the next step was claimed.
	return nil, errors.Join(err, s.releaseNext(ctx, run))
}

// releaseNext releases the steps that may have been claimed with the output of a
// step.
func (s *stepHandler) releaseNext(ctx context.Context, run stepRun) error {
	var errs []error
	for taskType := range s.run {
		kind, step, _ := strings.Cut(taskType, ":")
		if kind == run.job.Kind && step != run.step && queueOf(taskType) == queueOf(run.taskType) {
			errs = append(errs, s.release(ctx, tasks.TaskPayload{Job: run.job.ID, Step: step, Attempt: 1}, run.claim, false))
		}
	}
	return errors.Join(errs...)
}

// queueOf returns the queue of a task type.
func queueOf(taskType string) string {
	policy, _ := tasks.PolicyOf(taskType)
	return policy.Queue
}

// retryLater releases a step that failed, so that it is retried after a delay. The
// error that it returns makes asynq deliver the task again; a continued step gets a
// task of its own instead.
func (s *stepHandler) retryLater(ctx context.Context, run stepRun, delay time.Duration, cause error) error {
	payload := tasks.TaskPayload{Job: run.job.ID, Step: run.step, Attempt: run.job.Steps[run.step].Attempt}
	countsAsRetry := tasks.IsFailure(cause) && ctx.Err() == nil
	if !run.continued || ctx.Err() != nil {
		return errors.Join(&retryError{delay, cause}, s.release(ctx, payload, run.claim, countsAsRetry))
	}
	// The task comes first: a ready step without one would be given to another
	// worker before the delay is over.
	return s.retryWrite(ctx, func(ctx context.Context) error {
		if err := s.engine.EnqueueAfter(ctx, run.job, run.step, delay); err != nil {
			return err
		}
		return s.jobs.Release(ctx, run.job.ID, run.step, run.claim, countsAsRetry)
	})
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
	_, name, _ := strings.Cut(taskType, ":")
	ctx = logs.With(ctx, "job", job.ID, "kind", job.Kind, "step", name, "site", pageHostOf(job), "key", job.Owner,
		"request", job.Origin.Request)
	ctx, stop := context.WithCancelCause(fair.WithOwner(ctx, job.Owner))
	defer stop(nil)
	if s.hub != nil {
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
	value, err := run(limited, job)
	switch {
	case err == nil:
		return plainjson.Encode(value)
	case errors.Is(context.Cause(ctx), errJobEnded):
		return nil, errJobEnded
	}
	return nil, err
}

// isFinal reports whether a retry is useless: the error says so, the job's record
// counts as many retries of the step as are allowed, or the next attempt would
// come after the deadline.
func isFinal(ctx context.Context, taskType string, job *jobs.Job, retries int, delay time.Duration, err error) bool {
	if failure, ok := errors.AsType[*tasks.StepError](err); ok && failure.Permanent {
		return true
	}
	if ctx.Err() != nil { // the process is stopping, or asynq took the task back: another worker continues
		return false
	}
	policy, _ := tasks.PolicyOf(taskType)
	if tasks.IsFailure(err) && retries >= policy.MaxRetriesFor(job.Class) {
		return true
	}
	return time.Now().Add(delay).After(job.Deadline)
}

// backoff is the delay after a failed attempt that was preceded by a number of
// retries. It is not shorter than the side that failed or refused has asked for.
func backoff(retries int, err error) time.Duration {
	if snooze, ok := errors.AsType[*tasks.SnoozeError](err); ok {
		return retry.Jitter(max(snooze.After, minSnooze))
	}
	delay := retry.Policy{InitialDelay: initialBackoff, MaxDelay: maxBackoff}.Delay(retries+1, err)
	if failure, ok := errors.AsType[*tasks.StepError](err); ok {
		delay = max(delay, failure.After)
	}
	return delay
}

// beginSpan begins the span of one run of a step, in the trace of the request that caused
// the job, and records how long the first step waited in the queue.
func (s *stepHandler) beginSpan(ctx context.Context, run stepRun) (context.Context, *trace.Span) {
	job := run.job
	if len(job.Outputs) == 0 && job.Steps[run.step].Retries == 0 {
		s.traces.Waited(ctx, job.Origin.Trace, job.Created, "queue "+queueOf(run.taskType), "ushuru.job", job.ID)
	}
	return s.traces.Join(ctx, job.Origin.Trace, trace.Consumer, run.taskType, "ushuru.job", job.ID, "ushuru.step", run.step,
		"ushuru.class", string(job.Class), "ushuru.key", job.Owner, "ushuru.request", job.Origin.Request,
		"ushuru.attempt", job.Steps[run.step].Attempt)
}

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

// persist retries a write while Redis is unavailable, for as long as outage, also
// when the process is shutting down or the task's time is up. A write that Redis
// refuses for another reason is retried for as long as timeout. Subscribers that
// could not be notified are left to asynq and the sweeper, so that they do not block
// this worker. It reports whether the first try failed.
func persist(ctx context.Context, timeout, outage time.Duration, write func(context.Context) error) (failed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(timeout, outage))
	defer cancel()
	started := time.Now()
	policy := retry.Policy{
		InitialDelay: 100 * time.Millisecond, MaxDelay: maxWriteDelay,
		IsPermanent: func(err error) bool {
			return errors.Is(err, tasks.ErrNotifyIncomplete) || !redisx.IsUnavailable(err) && time.Since(started) > timeout
		},
	}
	err = retry.Do(ctx, policy, func() error {
		err := write(ctx)
		failed = failed || err != nil
		return err
	})
	return failed, err
}

// retryWrite writes the outcome of a step. A claim that no worker releases blocks
// the step until its timeout.
func (s *stepHandler) retryWrite(ctx context.Context, write func(context.Context) error) error {
	_, err := persist(ctx, s.writeTimeout, s.outageTimeout, write)
	return err
}

// release gives a claimed step back, so that it is retried later. When Redis was
// away for so long that asynq has given up the task, which it would bring again only
// after a minute or two, release enqueues the step itself.
func (s *stepHandler) release(ctx context.Context, payload tasks.TaskPayload, claim string, countsAsRetry bool) error {
	away, err := persist(ctx, s.writeTimeout, s.outageTimeout, func(ctx context.Context) error {
		return s.jobs.Release(ctx, payload.Job, payload.Step, claim, countsAsRetry)
	})
	if err != nil || !away || ctx.Err() == nil {
		return err
	}
	return s.retryWrite(ctx, func(ctx context.Context) error {
		return s.engine.Redeliver(ctx, payload.Job, payload.Step, payload.Attempt)
	})
}

// redisAway is how long a step waits that failed because of Redis.
const redisAway = time.Second

// snoozeOutage returns the error of a step as a delay that costs no retry when Redis
// is the reason. Failures of other services come as errors of package tasks.
func snoozeOutage(err error) error {
	if _, ok := errors.AsType[*tasks.StepError](err); ok || !redisx.IsUnavailable(err) {
		return err
	}
	if _, ok := errors.AsType[*tasks.SnoozeError](err); ok {
		return err
	}
	return tasks.Snooze(redisAway, err)
}
