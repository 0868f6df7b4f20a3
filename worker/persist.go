package worker

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
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

// persist writes the outcome of a step: a claim that no worker releases blocks the step
// until its timeout.
func (s *stepHandler) persist(ctx context.Context, write func(context.Context) error) error {
	return persist(ctx, s.writeTimeout, s.outageTimeout, write)
}
