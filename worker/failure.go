package worker

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/logs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

const (
	initialBackoff = time.Second
	maxBackoff     = 30 * time.Second
	minSnooze      = time.Second // asynq counts in whole seconds
)

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

// judge returns how a run ends that has an error or none, and after which delay it is
// retried, if it is.
func (r *stepRun) judge(ctx context.Context, err error) (metrics.Outcome, time.Duration) {
	delay := backoff(r.job.Steps[r.step].Retries, err)
	switch {
	case err == nil:
		return metrics.Completed, 0
	case errors.Is(err, errJobEnded):
		return metrics.Cancelled, 0
	case r.isFinal(ctx, delay, err):
		return metrics.Failed, 0
	case tasks.IsFailure(err):
		return metrics.Retried, delay
	}
	return metrics.Postponed, delay
}

// isFinal reports whether a retry is useless: the error says so, the job's record
// counts as many retries of the step as are allowed, or the next attempt would
// come after the deadline.
func (r *stepRun) isFinal(ctx context.Context, delay time.Duration, err error) bool {
	if failure, ok := errors.AsType[*tasks.StepError](err); ok && (failure.Permanent || failure.Final) {
		return true
	}
	if ctx.Err() != nil { // the process is stopping, or asynq took the task back: another worker continues
		return false
	}
	if tasks.IsFailure(err) && r.job.Steps[r.step].Retries >= r.policy.MaxRetriesFor(r.job.Class) {
		return true
	}
	return time.Now().Add(delay).After(r.job.Deadline)
}

// backoff is the delay after a failed attempt that was preceded by a number of
// retries. It is not shorter than the side that failed or refused has asked for.
func backoff(retries int, err error) time.Duration {
	if snooze, ok := errors.AsType[*tasks.SnoozeError](err); ok {
		return pace.Jitter(max(snooze.After, minSnooze))
	}
	delay := pace.Backoff{InitialDelay: initialBackoff, MaxDelay: maxBackoff}.Delay(retries+1, err)
	if failure, ok := errors.AsType[*tasks.StepError](err); ok {
		delay = max(delay, failure.After)
	}
	return delay
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
