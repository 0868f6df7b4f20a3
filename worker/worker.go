// Package worker runs the tasks: asynq servers, one handler per task type, the
// heartbeat, the sweeper and the schedule.
package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/match"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	sweepInterval     = 500 * time.Millisecond
	probeInterval     = time.Minute
	syncCheckInterval = 15 * time.Second

	// authorityConcurrency is the number of steps at once in the role authority: most of a step is a
	// wait for TRA, and for Redis where that is far.
	authorityConcurrency = 16
	aiConcurrency        = 4 // steps at once in the role ai
)

const (
	// webhookConcurrency is how many deliveries one worker sends at once. Their places are
	// their own, so that receivers that do not answer delay no step of a job.
	webhookConcurrency = 8
	// webhookLookInterval is how often an idle worker looks for deliveries, of which it gets
	// no messages.
	webhookLookInterval = 500 * time.Millisecond
)

// Options are the parts of a worker. A part is required unless its comment names a
// default. The parts of a role are required only with that role.
type Options struct {
	Redis redis.UniversalClient
	Roles []tasks.Role
	Log   *slog.Logger

	Jobs     *jobs.Store
	Hub      *jobs.Hub // the caller runs it as long as the worker runs
	Batches  *batch.Store
	Cache    *cache.Cache
	Webhooks *webhook.Store

	Catalogue *tra.Store     // the authority's makes and labels in Redis
	Fetch     *fetch.Client  // role any
	Match     match.Options  // role any; the zero value matches without AI
	Authority *tra.Authority // role authority
	Sheets    *scan.Loader   // role ai
	AI        *ai.Client     // role ai; nil reads no sheets
	Costs     *cost.Tables   // roles authority and ai; default: the embedded tables
	// Processor has batches yield to people; default: that of a process that does nothing else.
	Processor *pace.Processor
	// SheetURL returns the canonical URL of an inspection sheet. It is for the role
	// any; the default accepts the known hosts only.
	SheetURL func(string) (string, error)

	Metrics *metrics.Metrics // nil counts nothing
	Traces  *trace.Tracer    // nil records nothing
	Version string           // of the program, for the operator
	// AllowVolatile says that Redis may be one without an append-only file.
	AllowVolatile bool
	// Refused, if not nil, is called with each message of a channel that could not be taken.
	Refused func(channel string, cause error)

	Concurrency     int           // steps at once in role any; default 16
	BatchWindow     int           // batch rows that run at once, over all workers; default 200
	ShutdownTimeout time.Duration // for running steps; default 20 s
}

// Worker is a running worker. One process may run several.
type Worker struct {
	id          string
	options     Options
	engine      *tasks.Engine
	heartbeater *jobs.Heartbeater
	dispatcher  *dispatcher
	steps       *stepHandler
	overdue     *overdue

	queues  map[string]*queueClient // by queue
	servers []*asynq.Server
	stop    context.CancelFunc
	running sync.WaitGroup // loops and listeners
}

// validate refuses options that lack a required part.
func (o *Options) validate() error {
	if len(o.Roles) == 0 {
		return errors.New("worker: no role")
	}
	if o.Jobs == nil || o.Hub == nil || o.Batches == nil || o.Cache == nil || o.Webhooks == nil {
		return errors.New("worker: a store is missing")
	}
	for _, role := range o.Roles {
		switch {
		case !slices.Contains(tasks.Roles, role):
			return fmt.Errorf("worker: no such role %q; there are %v", role, tasks.Roles)
		case role == tasks.RoleAny && o.Fetch == nil, role == tasks.RoleAuthority && o.Authority == nil,
			role == tasks.RoleAI && o.Sheets == nil:
			return fmt.Errorf("worker: role %s lacks its client", role)
		}
	}
	return nil
}

// setDefaults sets the options that have a default and are not set.
func (o *Options) setDefaults() error {
	if o.Costs == nil {
		o.Costs = cost.Embedded()
	}
	if o.Processor == nil {
		o.Processor = pace.NewProcessor(runtime.GOMAXPROCS(0))
	}
	o.Concurrency = cmp.Or(o.Concurrency, 16)
	o.BatchWindow = cmp.Or(o.BatchWindow, 200)
	o.ShutdownTimeout = cmp.Or(o.ShutdownTimeout, 20*time.Second)
	if o.SheetURL == nil {
		hosts, err := scan.NewHosts()
		if err != nil {
			return err
		}
		o.SheetURL = func(raw string) (string, error) { return hosts.Canonical(raw, false) }
	}
	return nil
}

// New makes a Worker. Start starts it.
func New(o Options) (*Worker, error) {
	if err := errors.Join(o.validate(), o.setDefaults()); err != nil {
		return nil, err
	}
	id := ulid.Make().String()
	o.Log = o.Log.With("worker", id)
	dispatcher := &dispatcher{
		redis: o.Redis, batches: o.Batches, webhooks: o.Webhooks, bytes: pace.NewAccounts(o.Redis, pace.KindBytes),
		window: o.BatchWindow, log: o.Log, wake: make(chan struct{}, 1),
	}
	w := &Worker{
		id: id, options: o, queues: map[string]*queueClient{}, overdue: &overdue{log: o.Log, count: map[string]int{}},
	}
	dispatcher.engine = tasks.New(tasks.Options{
		Redis: o.Redis, Jobs: o.Jobs, Results: o.Cache, Webhooks: o.Webhooks,
		Fallback: func(ctx context.Context, job *jobs.Job, step string) (json.RawMessage, bool) {
			return w.steps.fallback(ctx, job, step)
		},
		IsRunning: func(worker, claim string) (own, running bool) {
			_, running = w.steps.claims.Load(claim)
			return worker == id, running
		},
		OnLost: func(job *jobs.Job, step string, failure *jobs.Error) {
			countStep(o.Metrics, job, step, metrics.Failed, failure.Code, 0)
		},
		BeforeSucceed: (&resultCache{o.Cache}).put,
		Notifiers:     map[string]tasks.Notifier{tasks.SubscriberBatch: dispatcher.onJobEnded},
		OnEnd:         func(job *jobs.Job) { Ended(o.Metrics, o.Log, job) },
		OnTakeover:    func(job *jobs.Job, step string) { o.Metrics.Count("takeovers_total", job.Kind, step) },
	})
	w.engine, w.dispatcher = dispatcher.engine, dispatcher
	is := presenceOf(o)
	w.heartbeater = jobs.NewHeartbeater(o.Jobs, id, func() jobs.Presence {
		is.Overdue = w.overdue.names()
		return is
	}, o.Metrics.Recorder().AddTo)
	w.steps = w.newStepHandler()
	return w, nil
}

// presenceOf returns what a worker says of itself.
func presenceOf(o Options) jobs.Presence {
	is := jobs.Presence{Version: o.Version, AllowVolatile: o.AllowVolatile, Started: time.Now().UTC().Truncate(time.Second)}
	for _, role := range o.Roles {
		is.Roles = append(is.Roles, string(role))
	}
	if o.AI != nil {
		is.Models, is.DailyTokens = o.AI.Models(), o.AI.DailyTokens()
	}
	return is
}

// RunStep runs one step of a job and returns its output. It claims and stores
// nothing: the benchmark compares the work itself with how it is organised.
func (w *Worker) RunStep(ctx context.Context, taskType string, job *jobs.Job) (json.RawMessage, error) {
	return w.steps.runStep(ctx, taskType, w.steps.run[taskType], job)
}

// Start starts the servers and the loops of the worker.
func (w *Worker) Start() error {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	if err := w.heartbeater.Start(ctx); err != nil {
		cancel()
		return fmt.Errorf("worker: first heartbeat: %w", err)
	}
	w.running.Go(func() { w.heartbeater.Run(ctx) })
	if err := w.startServers(); err != nil {
		w.Stop()
		return err
	}
	w.running.Go(func() { w.listenEnqueued(ctx) })
	w.running.Go(func() { w.dispatcher.run(ctx) })
	for _, l := range w.loops() {
		w.running.Go(func() { w.runLoop(ctx, l) })
	}
	w.options.Log.Info("worker started", "roles", w.options.Roles)
	return nil
}

// placesOf returns how many steps of a role the worker runs at once, of each class.
func (w *Worker) placesOf(role tasks.Role) int {
	switch role {
	case tasks.RoleAuthority:
		return authorityConcurrency
	case tasks.RoleAI:
		return aiConcurrency
	case tasks.RoleAny:
	}
	return w.options.Concurrency
}

// startServers starts an asynq server for each queue, so that a task of a person waits
// neither for the places nor for the looks of a batch. The role any also delivers
// webhooks: a worker with other roles only may not reach the receivers.
func (w *Worker) startServers() error {
	handler := w.handler()
	for _, role := range w.options.Roles {
		for queue := range tasks.QueuesOf(role) {
			config := ServerConfig(map[string]int{queue: 1}, w.placesOf(role), w.options.ShutdownTimeout, w.options.Log)
			if err := w.startServer(queue, lookInterval, config, handler); err != nil {
				return err
			}
		}
	}
	if slices.Contains(w.options.Roles, tasks.RoleAny) {
		return w.startServer(webhook.Queue, webhookLookInterval, w.webhookConfig(), w.webhookHandler())
	}
	return nil
}

func (w *Worker) startServer(queue string, look time.Duration, config asynq.Config, handler asynq.Handler) error {
	client := newQueueClient(w.options.Redis, queue, look)
	server := asynq.NewServerFromRedisClient(client, config)
	if err := server.Start(handler); err != nil {
		return fmt.Errorf("worker: queue %s: %w", queue, err)
	}
	w.queues[queue] = client
	w.servers = append(w.servers, server)
	return nil
}

// ServerConfig is the configuration of every asynq server of the workers. The
// benchmarks measure bare asynq with it.
func ServerConfig(queues map[string]int, concurrency int, shutdown time.Duration, log *slog.Logger) asynq.Config {
	return asynq.Config{
		Concurrency:              concurrency,
		Queues:                   queues,
		TaskCheckInterval:        taskCheckInterval,
		DelayedTaskCheckInterval: delayedCheckInterval,
		RetryDelayFunc:           retryDelay,
		IsFailure:                tasks.IsFailure,
		ShutdownTimeout:          shutdown,
		Logger:                   asynqLog{log},
		LogLevel:                 asynq.WarnLevel,
	}
}

// Stop takes no more tasks, waits for running steps up to ShutdownTimeout,
// releases those that did not finish, and waits for all goroutines.
func (w *Worker) Stop() {
	for _, client := range w.queues {
		client.stop()
	}
	var stopping sync.WaitGroup
	for _, server := range w.servers {
		stopping.Go(server.Shutdown)
	}
	stopping.Wait()
	w.stop()
	w.running.Wait()
	w.options.Log.Info("worker stopped")
}

// newStepHandler returns the handler of all steps.
func (w *Worker) newStepHandler() *stepHandler {
	o := w.options
	outages := tra.NewOutages(o.Catalogue.Status)
	stale := staleAnswers{o.Catalogue.Stale(), outages}
	matching := matchLabel(o.Catalogue, w.engine, match.New(o.Match), o.Metrics)
	known := calculate(o.Catalogue.Known(), stale, o.Costs, o.Processor, o.Metrics)
	calculating := known
	if o.Authority != nil {
		calculating = calculate(o.Authority, stale, o.Costs, o.Processor, o.Metrics)
	}
	return &stepHandler{
		engine: w.engine, jobs: o.Jobs, turns: o.Processor, worker: w.id, log: o.Log, metrics: o.Metrics,
		traces: o.Traces, hub: o.Hub, outages: outages, overdue: w.overdue,
		waits:        w.dispatcher.onJobWaits,
		writeTimeout: writeTimeout, outageTimeout: outageTimeout,
		run: map[string]stepFunc{
			tasks.TypeScrape:         newScraper(o).scrape,
			tasks.TypeMatch:          matching,
			tasks.TypeCalculate:      calculating,
			tasks.TypeQuoteMatch:     matching,
			tasks.TypeQuoteCalculate: calculating,
			tasks.TypeSummarize:      (&sheetReader{loader: o.Sheets, model: o.AI, jobs: o.Jobs, log: o.Log}).summarize,
			tasks.TypeRecommend:      recommend(o.Costs),
		},
		known: known,
	}
}

// handler routes tasks by type.
func (w *Worker) handler() asynq.Handler {
	o := w.options
	mux := asynq.NewServeMux()
	for taskType := range w.steps.run {
		mux.Handle(taskType, w.steps)
	}
	mux.Handle(tasks.TypeDispatch, w.overdue.handler(w.dispatcher))
	mux.Handle(tasks.TypeSync, w.overdue.handler(syncCatalogue(o.Catalogue, o.Authority, o.Log)))
	mux.Handle(tasks.TypeProbe, w.overdue.handler(probe(o.Authority, o.Log)))
	return mux
}

func (w *Worker) webhookConfig() asynq.Config {
	config := ServerConfig(map[string]int{webhook.Queue: 1}, webhookConcurrency, w.options.ShutdownTimeout, w.options.Log)
	config.RetryDelayFunc, config.IsFailure = webhook.RetryDelay, webhook.IsFailure
	return config
}

// webhookHandler delivers events.
func (w *Worker) webhookHandler() asynq.Handler {
	mux := asynq.NewServeMux()
	mux.Handle(webhook.TypeDeliver, w.overdue.handler(&webhook.Sender{
		Store: w.options.Webhooks, Post: w.options.Fetch.Post, Log: w.options.Log, OnAttempt: w.options.Metrics.WebhookAttempt,
		Turn: func(ctx context.Context, owner, id string, lease time.Duration) (func(), bool, error) {
			ready, err := w.engine.BeginTurn(ctx, webhook.Queue, owner, id, lease)
			end := func() { _ = w.engine.EndTurn(context.WithoutCancel(ctx), webhook.Queue, owner, id) } // the place is a lease
			return end, ready, err
		},
	}))
	return mux
}

// asynqLog writes asynq's log to ours.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug(fmt.Sprint(args...), "from", logs.Asynq) }

func (l asynqLog) Info(args ...any) { l.log.Info(fmt.Sprint(args...), "from", logs.Asynq) }

func (l asynqLog) Warn(args ...any) { l.log.Warn(fmt.Sprint(args...), "from", logs.Asynq) }

func (l asynqLog) Error(args ...any) { l.log.Error(fmt.Sprint(args...), "from", logs.Asynq) }

// Fatal ends the process, as asynq's interface requires.
func (l asynqLog) Fatal(args ...any) {
	l.Error(args...)
	os.Exit(1)
}
