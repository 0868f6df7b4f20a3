package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// sweep starts the sweepers, which run until ctx ends. Each class has its own, so
// that a batch cannot delay the recovery of an interactive job.
func (w *Worker) sweep(ctx context.Context, interval time.Duration) {
	for _, class := range []jobs.Class{jobs.Interactive, jobs.Bulk} {
		w.loops.Go(func() {
			w.runEvery(ctx, interval, func() {
				for more := true; more && ctx.Err() == nil; {
					more = w.sweepOnce(ctx, class)
				}
			})
		})
	}
}

// sweepOnce reports whether more jobs are due now.
func (w *Worker) sweepOnce(ctx context.Context, class jobs.Class) (more bool) {
	recovered, more, err := w.engine.Sweep(ctx, class, w.heartbeater.Reliable)
	if ctx.Err() == nil {
		w.options.Metrics.Swept(string(class), recovered, err)
	}
	if err != nil && ctx.Err() == nil {
		w.options.Log.Warn("sweep failed", "error", err)
	}
	if recovered > 0 {
		w.options.Log.Info("recovered stalled jobs", "jobs", recovered)
	}
	return more && err == nil
}

// sweepBatches checks the active batches.
func (w *Worker) sweepBatches(ctx context.Context) {
	if err := w.dispatcher.checkBatches(ctx); err != nil && ctx.Err() == nil {
		w.options.Log.Warn("batch check failed", "error", err)
	}
}

// logScheduleError logs that a recurring task could not be enqueued.
func (w *Worker) logScheduleError(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		w.options.Log.Warn("schedule failed", "error", err)
	}
}

// runEvery calls do at once and then at each interval, until ctx ends. It logs a panic of
// do and goes on.
func (w *Worker) runEvery(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		err := logs.Guarded(func() error {
			do()
			return nil
		})()
		if err != nil {
			w.options.Log.Error("a part of the worker has panicked and goes on", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// registerInterval is how often the queues are registered.
const registerInterval = 5 * time.Second

// registerQueues adds the queues to asynq's list of them. asynq does so once in the
// life of a process: after FLUSHALL, or when Redis has restarted empty, neither
// Asynqmon nor the sweeper would find a queue.
func registerQueues(ctx context.Context, client redis.UniversalClient) error {
	names := []any{webhook.Queue}
	for _, role := range tasks.Roles {
		for name := range tasks.QueuesOf(role) {
			names = append(names, name)
		}
	}
	return client.SAdd(ctx, "asynq:queues", names...).Err()
}

// syncInterval is how soon a sync can be enqueued again. The store makes sure that
// only one runs.
const syncInterval = 5 * time.Second

// enqueueSync enqueues a sync of the catalogue if one is due.
func enqueueSync(ctx context.Context, store *tra.Store, engine *tasks.Engine) error {
	due, err := store.SyncDue(ctx)
	if err != nil || !due {
		return err
	}
	return engine.EnqueueOnce(ctx, tasks.TypeSync, syncInterval, time.Now())
}

// syncCatalogue copies the authority's makes and labels to Redis. Makes that failed
// are fetched when the next sync is due.
func syncCatalogue(store *tra.Store, authority *tra.Authority, log *slog.Logger) asynq.HandlerFunc {
	return func(ctx context.Context, _ *asynq.Task) error {
		report, err := store.Sync(ctx, authority)
		if errors.Is(err, tra.ErrSyncing) {
			return nil
		}
		if report.Quarantined != "" {
			log.ErrorContext(ctx, "TRA's lists differ so much from the catalogue that they were quarantined and the previous "+
				"ones stay. They are taken when two later syncs agree, or with: ushuru authority sync --accept",
				"quarantined", report.Quarantined, "report", report)
		}
		if err != nil {
			log.WarnContext(ctx, "catalogue partly synced", "report", report, "error", err)
			return nil
		}
		log.InfoContext(ctx, "catalogue synced", "report", report)
		return nil
	}
}

// probe records the status of the authority's calculator.
func probe(authority *tra.Authority, log *slog.Logger) asynq.HandlerFunc {
	return func(ctx context.Context, _ *asynq.Task) error {
		status, err := authority.Probe(ctx)
		if err != nil || status.State != tra.Up {
			log.WarnContext(ctx, "TRA calculator check failed", "status", status, "error", err)
		}
		return nil
	}
}
