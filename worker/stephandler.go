package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"

	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/tasks"
)

// stepFunc does the work of one step: the job's record in, the output out.
type stepFunc func(ctx context.Context, job *jobs.Job) (output any, err error)

// stepHandler runs the steps of jobs. Nothing in it relies on a task being
// delivered once, in time or in order.
type stepHandler struct {
	engine *tasks.Engine
	jobs   *jobs.Store
	worker string
	log    *slog.Logger
	run    map[string]stepFunc // by task type
	// hub tells of jobs that end while a step of theirs is run; nil is nobody,
	// and then the run finds out when it stores its output.
	hub *jobs.Hub
	// writeTimeout is how long to try to write what came of the work while Redis
	// is away.
	writeTimeout time.Duration
}

// errJobEnded stops the run of a step whose job has ended, because it was
// cancelled for example: nobody wants the output any more.
var errJobEnded = errors.New("worker: the job has ended")

// ProcessTask claims the step that a task is about, runs it, stores its
// output and moves the job on. An error means that the queue is to deliver
// the task again.
func (s *stepHandler) ProcessTask(ctx context.Context, task *asynq.Task) error {
	nudge, err := tasks.ParseTaskPayload(task.Payload())
	if err != nil {
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	log := s.log.With("job", nudge.Job, "step", nudge.Step, "attempt", nudge.Attempt)
	claim := ulid.Make().String()
	verdict, job, err := s.jobs.Claim(ctx, nudge.Job, nudge.Step, nudge.Attempt, s.worker, claim)
	if err != nil { // perhaps only the answer was lost, and the claim stands
		return s.releaseClaim(ctx, nudge, claim, err)
	}
	switch verdict {
	case jobs.Claimed:
		return s.runClaimed(ctx, task.Type(), job, nudge, claim, log)
	case jobs.AlreadyDone, jobs.JobEnded:
		return s.engine.Advance(ctx, nudge.Job)
	case jobs.Stale, jobs.NotFound:
	}
	log.Debug("task has nothing to do", "verdict", verdict)
	return nil
}

// releaseClaim releases a step because of an error, which it returns. A claim
// that nobody works on would hold the step until its time is up, so this has
// patience when Redis is away.
func (s *stepHandler) releaseClaim(ctx context.Context, nudge tasks.TaskPayload, claim string, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.writeTimeout)
	defer cancel()
	return errors.Join(cause, retryWrite(ctx, func() error {
		return s.jobs.Release(ctx, nudge.Job, nudge.Step, claim)
	}))
}

// runClaimed runs a step that this handler holds.
func (s *stepHandler) runClaimed(
	ctx context.Context, taskType string, job *jobs.Job, nudge tasks.TaskPayload, claim string, log *slog.Logger,
) error {
	started := time.Now()
	output, err := s.runStep(ctx, taskType, job)
	log = log.With("ms", time.Since(started).Milliseconds())

	// What came of the work is written also when the process is shutting down
	// or the task's time is up, and with patience when Redis is away.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.writeTimeout)
	defer cancel()
	switch {
	case err == nil:
		log.Info("step done")
		return retryWrite(after, func() error { return s.engine.Complete(after, job, nudge.Step, output) })
	case errors.Is(err, errJobEnded): // nor does the queue bring the task again
		log.Info("step stopped, for its job has ended")
		return retryWrite(after, func() error { return s.engine.Advance(after, job.ID) })
	case s.isFinal(ctx, job, nudge.Step, err):
		failure := tasks.JobError(err)
		level := slog.LevelError
		if said, ok := errors.AsType[*tasks.StepError](err); ok && said.Permanent {
			level = slog.LevelInfo // a page that is no listing is nothing for the operator to mend
		}
		log.Log(after, level, "step failed", "code", failure.Code, "error", err)
		return retryWrite(after, func() error {
			return s.engine.Fail(after, job.ID, nudge.Step, claim, failure)
		})
	default:
		level := slog.LevelWarn
		if !tasks.IsFailure(err) {
			level = slog.LevelDebug
		}
		log.Log(after, level, "step will be tried again", "error", err)
		return s.releaseClaim(ctx, nudge, claim, err)
	}
}

// runStep runs the step within its time, and stops it with errOver when the job
// ends meanwhile; a panic is an error.
func (s *stepHandler) runStep(ctx context.Context, taskType string, job *jobs.Job) (output json.RawMessage, err error) {
	run, known := s.run[taskType]
	policy, hasPolicy := tasks.PolicyOf(taskType)
	if !known || !hasPolicy {
		return nil, fmt.Errorf("worker: no handler for %q", taskType)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.watch(ctx, job.ID, stop)
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

// watch stops a run when its job ends, until ctx does.
func (s *stepHandler) watch(ctx context.Context, id string, stop context.CancelCauseFunc) {
	if s.hub == nil {
		return
	}
	go func() {
		if s.hub.WaitEnded(ctx, id) == nil {
			stop(errJobEnded)
		}
	}()
}

// isFinal reports whether trying again is no use: the error says so, retries
// are used up, or the next try would come after the deadline.
func (s *stepHandler) isFinal(ctx context.Context, job *jobs.Job, step string, err error) bool {
	if failure, ok := errors.AsType[*tasks.StepError](err); ok && failure.Permanent {
		return true
	}
	if ctx.Err() != nil { // the process is stopping, or asynq took the task back: another goes on
		return false
	}
	tried, _ := asynq.GetRetryCount(ctx)
	if policy, ok := tasks.PolicyOf(job.Kind + ":" + step); ok && tried >= policy.MaxRetriesFor(job.Class) && tasks.IsFailure(err) {
		return true
	}
	return time.Now().Add(backoff(tried, err)).After(job.Deadline)
}

const (
	writeTimeout   = 30 * time.Second
	initialBackoff = time.Second
	minSnooze      = time.Second // asynq counts in whole seconds
	maxBackoff     = 30 * time.Second
)

// backoff is how long to wait before the next try: exponential with jitter, and
// not shorter than whoever refused asked for.
func backoff(tried int, err error) time.Duration {
	if gate, ok := errors.AsType[*tasks.SnoozeError](err); ok {
		after := max(gate.After, minSnooze)
		return after + rand.N(after/2) //nolint:gosec // so that not all who wait come at once
	}
	d := min(initialBackoff<<min(tried, 10), maxBackoff)
	d += rand.N(d / 5) //nolint:gosec // jitter
	if failure, ok := errors.AsType[*tasks.StepError](err); ok {
		d = max(d, failure.After)
	}
	return d
}

// retryWrite does a write again until it succeeds or ctx ends. What is left to be
// done when a job has ended is left to the queue and the sweep: it must not
// keep this worker from other work.
func retryWrite(ctx context.Context, write func() error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := write()
		if err == nil || ctx.Err() != nil || errors.Is(err, tasks.ErrNotifyIncomplete) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
