// Package app is a process of the service as a library: the API, the workers,
// or both. New builds every store and client once and hands them down; Start
// begins to answer requests and to take tasks; Stop ends that in the opposite
// order. The commands, the demo, the benchmarks and the tests all run it.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api"
	"ushuru/pkg/ai"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/drift"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/logs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
	"ushuru/worker"
)

const loadingInterval = 250 * time.Millisecond // between two looks whether Redis still loads

// Options says what a process runs. Redis and Log are required.
type Options struct {
	Redis *redisx.Conn // an open connection; the caller closes it after Stop
	Log   *slog.Logger

	// Secrets seals the secrets of webhooks; nil stores them in the clear.
	Secrets *webhook.Ring

	API    *APIOptions    // nil runs no API
	Worker *WorkerOptions // nil runs no workers

	Costs       *cost.Tables  // nil uses the embedded tables
	Sheets      *scan.Hosts   // hosts for inspection sheets; nil allows the known ones only
	KeyAITokens int64         // tokens of the AI a day of a key that has no limit of its own; 0 means no limit
	Admin       Admin         // address for operators
	Traces      trace.Options // without a URL nothing is recorded; New sets the rest

	Version, Commit string // of the program, for its metrics and its log

	// AllowLoopback admits listings and sheets on this machine. It is for tests, the
	// demo and simulators, never for production.
	AllowLoopback bool
	// AllowVolatile admits a Redis without an append-only file.
	AllowVolatile bool
	// Simulated marks every response: its figures are made up.
	Simulated bool
}

// App is one process of the service.
type App struct {
	options Options
	log     *slog.Logger
	metrics *metrics.Metrics
	stores  *stores
	ready   ready
	traces  *trace.Tracer // nil records nothing

	api    *api.Server    // nil without API
	worker *worker.Worker // nil without workers

	opened  Cleanup // what New opened
	started Cleanup // what Start started, but the API
	stopAPI func()  // nil until the API is started
	failed  chan error
}

// stores are the records in Redis, each opened once.
type stores struct {
	jobs      *jobs.Store
	hub       *jobs.Hub
	engine    *tasks.Engine
	batches   *batch.Store
	cache     *cache.Cache
	catalogue *tra.Store
	drift     *drift.Store
	keys      *keys.Memory
	rates     *pace.Rates
	processor *pace.Processor
	bytes     *pace.Accounts
	webhooks  *webhook.Store
}

// New builds the process. Call Stop at the end, also when Start was not called
// or failed. When New fails it has closed everything that it opened.
func New(o Options) (*App, error) {
	if o.Redis == nil || o.Log == nil {
		return nil, errors.New("app: Redis or Log is missing")
	}
	if o.Costs == nil {
		o.Costs = cost.Embedded()
	}
	if o.Sheets == nil {
		var err error
		if o.Sheets, err = scan.NewHosts(); err != nil {
			return nil, err
		}
	}
	quiet, endWatch := logs.Watch(o.Redis.Client(), o.Log, isRedisAway)
	o.Log = quiet
	a := &App{options: o, log: o.Log, failed: make(chan error, 1)}
	a.opened.Add(endWatch)
	a.metrics = a.newMetrics()
	a.stores = newStores(o.Redis.Client(), o.Secrets, o.Log, a.metrics)
	if o.API != nil {
		a.opened.Add(func() { _ = o.API.Listener.Close() })
	}
	collector := &collector{metrics.Shared(), o.Redis.Client(), a.stores, a.aiLimit(), o.AllowVolatile}
	if err := errors.Join(a.build(), a.metrics.Registry().Register(collector)); err != nil {
		a.opened.Run()
		return nil, err
	}
	return a, nil
}

func (a *App) build() (err error) {
	if err = a.addTraces(); err != nil {
		return err
	}
	if a.options.Worker != nil {
		if a.worker, err = a.newWorker(*a.options.Worker); err != nil {
			return err
		}
	}
	if a.options.API != nil {
		a.api, err = a.newAPI(*a.options.API)
	}
	return err
}

func newStores(client redis.UniversalClient, ring *webhook.Ring, log *slog.Logger, counts *metrics.Metrics) *stores {
	records, webhooks := jobs.NewStore(client), webhook.NewStore(client, ring)
	hub, known := jobs.NewHub(records), keys.NewMemory(keys.NewStore(client))
	hub.Refused, known.Refused = refused(counts, log), refused(counts, log)
	results := cache.New(client).OnLookup(counts.Lookup)
	return &stores{
		jobs: records, hub: hub,
		engine: tasks.New(tasks.Options{
			Redis: client, Jobs: records, Results: results, Webhooks: webhooks,
			OnEnd: func(job *jobs.Job) { worker.Ended(counts, log, job) },
		}),
		batches: batch.NewStore(client), cache: results,
		catalogue: tra.NewStore(client, tra.StoreOptions{
			Implausible: drift.Implausible,
			OnLookup:    func(tax, hit bool) { counts.Lookup(cacheOf(tax), hit) },
		}),
		drift: drift.NewStore(client), keys: known, rates: pace.NewRates(client),
		processor: pace.NewProcessor(runtime.GOMAXPROCS(0)), bytes: pace.NewAccounts(client, pace.KindBytes),
		webhooks: webhooks,
	}
}

// Start starts the workers and the API. After an error all parts are stopped again. The context
// bounds the start only.
func (a *App) Start(ctx context.Context) error {
	if err := a.start(ctx); err != nil {
		a.stop()
		return err
	}
	return nil
}

func (a *App) start(ctx context.Context) error {
	a.logStart()
	if err := a.startAdmin(ctx); err != nil {
		return err
	}
	a.startListening(ctx, a.stores.hub.Run)
	if !a.options.Redis.Embedded() {
		canary := redisx.NewCanary(a.options.Redis.Client())
		a.startListening(ctx, func(ctx context.Context) { canary.Run(ctx, redisx.CanaryInterval, a.log) })
	}
	if a.api != nil {
		a.startListening(ctx, a.stores.keys.Run)
		a.startAPI(ctx, *a.options.API) // first: it says that it is not ready while Redis loads
	}
	if err := a.awaitRedis(ctx); err != nil {
		return err
	}
	a.warnReplicas(ctx)
	if a.api != nil {
		host, _ := os.Hostname()
		name := fmt.Sprintf("%s, process %d", host, os.Getpid())
		a.startListening(ctx, func(ctx context.Context) { status.Announce(ctx, a.options.Redis.Client(), name) })
	}
	if a.worker == nil { // else the heartbeat takes the counts along
		a.startListening(ctx, a.metrics.Recorder().Run)
		a.ready.started.Store(true)
		return nil
	}
	if err := a.worker.Start(); err != nil { //nolint:contextcheck // the workers outlive the start
		return err
	}
	a.started.Add(a.worker.Stop)
	a.ready.started.Store(true)
	return nil
}

// logStart logs what the process is, and what of it is on and off.
func (a *App) logStart() {
	o := a.options
	attrs := []any{
		"version", o.Version, "commit", o.Commit, "go", runtime.Version(), "redis", o.Redis.String(),
		"redis_embedded", o.Redis.Embedded(), "api", o.API != nil, "admin", o.Admin.Addr,
		"webhook_keys_sealed", o.Secrets.Seals(),
		"allow_loopback", o.AllowLoopback, "simulated", o.Simulated,
		"traces", o.Traces.URL != "",
	}
	if o.API != nil {
		attrs = append(attrs, "pages", o.API.Page.Enabled, "monitoring", o.API.MonitoringPassword != "",
			"wait_replicas", o.API.WaitReplicas)
	}
	roles := []tasks.Role{}
	if o.Worker != nil {
		roles = o.Worker.Roles
		models := make([]string, 0, len(o.Worker.AI.Endpoints))
		for _, endpoint := range o.Worker.AI.Endpoints {
			models = append(models, endpoint.Model+" at "+endpoint.BaseURL)
		}
		attrs = append(attrs, "ai_models", models, "authority_proxy", o.Worker.Authority.Proxy != "",
			"fetch_rate", o.Worker.Fetch.Rate, "authority_rate", o.Worker.AuthorityRate)
	}
	a.log.Info("starting", append(attrs, "roles", roles)...)
}

// addTraces begins to record traces, if there is a collector for them.
func (a *App) addTraces() error {
	o := a.options.Traces
	o.Log, o.Version, o.Service = a.log, a.options.Version, "ushuru-worker"
	if a.options.API != nil {
		o.Service = "ushuru-api"
	}
	traces, err := trace.New(context.Background(), o)
	if traces == nil || err != nil {
		return err
	}
	a.traces = traces
	a.opened.Add(a.traces.Close)
	a.options.Redis.Client().AddHook(trace.Redis{})
	return nil
}

// aiLimit returns the tokens of the AI a day; 0 for no limit, or no AI.
func (a *App) aiLimit() int64 {
	if a.options.Worker == nil || len(a.options.Worker.AI.Endpoints) == 0 { // the setting has a default
		return 0
	}
	return a.options.Worker.AI.DailyTokens
}

// warnReplicas logs when what the API acknowledges can be lost by a failover.
func (a *App) warnReplicas(ctx context.Context) {
	if a.options.API == nil || a.options.API.WaitReplicas > 0 {
		return
	}
	if n, err := a.options.Redis.Replicas(ctx); err == nil && n > 0 {
		a.log.Warn("Redis has replicas and REDIS_WAIT_REPLICAS is 0: a failover may lose jobs and batches"+
			" that were answered with 202 or 201", "replicas", n)
	}
}

// awaitRedis waits while Redis loads its data, which takes minutes when it is large.
func (a *App) awaitRedis(ctx context.Context) error {
	started := time.Now()
	for logged := false; a.options.Redis.Loading(ctx); logged = true {
		if !logged {
			a.log.Warn("Redis loads its data; waiting")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-a.failed:
			return err
		case <-time.After(loadingInterval):
		}
	}
	if waited := time.Since(started); waited > loadingInterval {
		a.log.Info("Redis has loaded its data", "after", waited.Round(time.Millisecond).String())
	}
	return nil
}

// stop ends what start started: first the API, which then starts no more work.
func (a *App) stop() {
	a.ready.stopping.Store(true)
	if a.stopAPI != nil {
		a.stopAPI()
		a.stopAPI = nil
	}
	a.started.Run()
}

// startListening starts a goroutine that listens for messages: of the end of jobs,
// for the API and the workers, or of changed API keys.
func (a *App) startListening(ctx context.Context, run func(context.Context)) {
	listening, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var listener sync.WaitGroup
	listener.Go(func() { run(listening) })
	a.started.Add(func() {
		cancel()
		listener.Wait()
	})
}

// Wait returns nil when ctx ends, or the error of a part that stopped by
// itself.
func (a *App) Wait(ctx context.Context) error {
	select {
	case err := <-a.failed:
		return err
	case <-ctx.Done():
		a.log.Info("stopping", "cause", context.Cause(ctx))
		return nil
	}
}

// Stop ends what Start started, in the opposite order, and closes what New
// opened. It returns when every goroutine of the process has ended.
func (a *App) Stop() {
	a.stop()
	a.opened.Run()
}

// fail keeps the first error of a part for Wait.
func (a *App) fail(err error) {
	select {
	case a.failed <- err:
	default: // Wait returns the first error only
	}
}

// isRedisAway reports whether an error means that Redis is away, and nothing else is: the
// failures of other services have types of their own.
func isRedisAway(err error) bool {
	if _, ok := errors.AsType[*tra.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*fetch.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*ai.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*tasks.StepError](err); ok {
		return false
	}
	return redisx.IsUnavailable(err)
}

// Cleanup is a stack of functions that undo what was opened or started. The
// zero value is empty.
type Cleanup struct{ undo []func() }

// Add puts a function on the stack.
func (c *Cleanup) Add(undo func()) { c.undo = append(c.undo, undo) }

// Run calls the functions, the last one first, and empties the stack.
func (c *Cleanup) Run() {
	for _, undo := range slices.Backward(c.undo) {
		undo()
	}
	c.undo = nil
}
