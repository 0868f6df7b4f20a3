package worker

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/retry"
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
