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
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// loop is something that a worker does at intervals.
type loop struct {
	name     string // what it does, for the log
	interval time.Duration
	do       func(context.Context) error
	last     func(context.Context) error // once when the worker stops; nil for nothing
}

// loops returns what the worker does at intervals.
func (w *Worker) loops() []loop {
	o := w.options
	all := []loop{
		// Each class has a sweeper of its own, so that a batch cannot delay the recovery of a
		// job of a person.
		{"sweep of the jobs of people", sweepInterval, w.sweeper(jobs.Interactive), nil},
		{"sweep of the jobs of batches", sweepInterval, w.sweeper(jobs.Bulk), nil},
		{"check of the batches", batchCheckInterval / 2, w.dispatcher.checkBatches, nil},
		{"registration of the queues", registerInterval, func(ctx context.Context) error {
			return registerQueues(ctx, o.Redis)
		}, nil},
	}
	for _, role := range o.Roles {
		all = append(all, w.offer(tasks.QueueOf(role), w.placesOf(role)))
		switch role {
		case tasks.RoleAny:
			all = append(
				all, w.offer(webhook.Queue, webhookConcurrency),
				loop{"sweep of the deliveries to webhooks", tidyInterval, w.sweepDeliveries, nil},
				loop{"tidying of the queues", tidyInterval, w.engine.TidyQueues, nil},
			)
		case tasks.RoleAuthority:
			all = append(
				all,
				loop{"heartbeat of the role authority", tra.WorkerInterval, o.Authority.Alive, nil},
				loop{"sync of TRA's lists", syncCheckInterval, func(ctx context.Context) error {
					return enqueueSync(ctx, o.Catalogue, w.engine)
				}, nil},
				loop{"check of TRA's calculator", probeInterval, func(ctx context.Context) error {
					return w.engine.EnqueueOnce(ctx, tasks.TypeProbe, probeInterval, time.Now())
				}, nil},
			)
		case tasks.RoleAI:
		}
	}
	return all
}

// runLoop does something at once and then at each interval, until ctx ends. It logs an
// error or a panic and goes on.
func (w *Worker) runLoop(ctx context.Context, l loop) {
	ticker := time.NewTicker(l.interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		err := logs.Guarded(func() error { return l.do(ctx) })()
		if err != nil && ctx.Err() == nil {
			w.options.Log.Warn("a loop of the worker failed and goes on", "loop", l.name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	if l.last != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = l.last(last)
	}
}

// offer says how many places the worker has for the tasks of people in a queue.
func (w *Worker) offer(queue string, places int) loop {
	say := func(places int) func(context.Context) error {
		return func(ctx context.Context) error {
			return w.engine.OfferTurns(ctx, queue, w.id, places, pace.OfferInterval)
		}
	}
	return loop{"offer of places in " + queue, pace.OfferInterval, say(places), say(0)}
}

// sweeper returns the sweep of the jobs of a class.
func (w *Worker) sweeper(class jobs.Class) func(context.Context) error {
	return func(ctx context.Context) error {
		for more := true; more && ctx.Err() == nil; {
			more = w.sweepOnce(ctx, class)
		}
		return nil
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

// tidyInterval is how often what an operator, or a process that died, left in the queues is
// looked for.
const tidyInterval = 15 * time.Second

func (w *Worker) sweepDeliveries(ctx context.Context) error {
	sent, err := w.options.Webhooks.Sweep(ctx)
	if sent > 0 {
		w.options.Log.Info("deliveries without a task are sent again", "deliveries", sent)
	}
	return err
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
		report, err := store.Sync(ctx, tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies})
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
