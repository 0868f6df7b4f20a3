package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/drift"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/match"
	"ushuru/pkg/match/selection"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
	"ushuru/worker"
)

// authorityRetries is how often a call to the authority is repeated at once.
// When three calls in ten fail, one in a hundred still fails after as many.
const authorityRetries = 3

// authorityRateWait is how long a call to the authority may wait for the rate limit.
// It is shorter than the time-out of a step.
const authorityRateWait = 20 * time.Second

// WorkerOptions are about the workers.
type WorkerOptions struct {
	Roles []tasks.Role

	Concurrency     int           // steps at once in the role any; 0: the worker's default, as below
	BatchWindow     int           // listings of batches processed at once by all workers
	ShutdownTimeout time.Duration // for running steps

	Fetch         fetch.Options // Timeout, UserAgent and Rate; New sets the rest
	SheetCacheDir string        // of the compiled PDF reader; "" keeps it in memory

	AI ai.Options // without Endpoints there is no AI; New sets Redis, Metrics and Log

	Authority     tra.Options
	AuthorityRate int // calls a second by all workers; 0 means no limit
}

func (a *App) newWorker(o WorkerOptions) (*worker.Worker, error) {
	s := a.stores
	options := worker.Options{
		Redis: a.options.Redis.Client(), Roles: o.Roles, Log: a.log, Catalogue: s.catalogue,
		Jobs: s.jobs, Hub: s.hub, Batches: s.batches, Cache: s.cache, Webhooks: s.webhooks,
		Concurrency: o.Concurrency, BatchWindow: o.BatchWindow, ShutdownTimeout: o.ShutdownTimeout, Costs: a.options.Costs,
		Metrics: a.metrics, Traces: a.traces, Version: a.options.Version, AllowVolatile: a.options.AllowVolatile,
		Processor: s.processor,
		Refused:   refused(a.metrics, a.log),
		SheetURL:  func(raw string) (string, error) { return a.options.Sheets.Canonical(raw, a.options.AllowLoopback) },
	}
	if slices.Contains(o.Roles, tasks.RoleAny) || slices.Contains(o.Roles, tasks.RoleAI) {
		if err := a.addReaders(&options, o); err != nil {
			return nil, err
		}
	}
	if slices.Contains(o.Roles, tasks.RoleAuthority) {
		if err := a.addAuthority(&options, o); err != nil {
			return nil, err
		}
	}
	return worker.New(options)
}

// RunStep runs one step of a job in a process with workers, without a record.
func (a *App) RunStep(ctx context.Context, taskType string, job *jobs.Job) (json.RawMessage, error) {
	return a.worker.RunStep(ctx, taskType, job)
}

// addReaders adds what fetches and reads pages and sheets.
func (a *App) addReaders(options *worker.Options, o WorkerOptions) error {
	o.Fetch.Redis, o.Fetch.AllowLoopback = options.Redis, a.options.AllowLoopback
	o.Fetch.IsKnown = func(host string) bool { return sites.NameOf(host) != "" || a.options.Sheets.Knows(host) }
	pages, err := fetch.New(o.Fetch)
	if err != nil {
		return err
	}
	a.opened.Add(pages.Close)
	options.Fetch = pages
	if len(o.AI.Endpoints) > 0 {
		if err := a.addAI(options, o); err != nil {
			return err
		}
	}
	if !slices.Contains(o.Roles, tasks.RoleAI) {
		return nil
	}
	options.Sheets, err = scan.NewLoader(scan.Options{
		Client: pages, Hosts: a.options.Sheets, AllowLoopback: a.options.AllowLoopback, CacheDir: o.SheetCacheDir,
	})
	if err != nil {
		return err
	}
	a.opened.Add(func() { _ = options.Sheets.Close() })
	return nil
}

func (a *App) addAI(options *worker.Options, o WorkerOptions) error {
	o.AI.Redis, o.AI.Metrics, o.AI.Log = options.Redis, a.metrics, a.log
	o.AI.Questions = aiQuestions
	records := keys.NewStore(options.Redis)
	o.AI.KeyTokens = func(ctx context.Context, key string) (int64, error) {
		limits, err := records.Limits(ctx, key)
		return cmp.Or(limits.AITokens, a.options.KeyAITokens), err
	}
	model, err := ai.New(o.AI)
	if err != nil {
		return err
	}
	a.opened.Add(model.Close)
	options.AI, options.Match = model, match.Options{Chooser: selection.NewAI(model).Choose}
	return nil
}

// addAuthority adds what calls the authority and compares its answers with the
// known tax rules.
func (a *App) addAuthority(options *worker.Options, o WorkerOptions) error {
	client, err := tra.NewClient(o.Authority)
	if err != nil {
		return err
	}
	a.opened.Add(client.Close)
	a.logProxy(client)
	detector := drift.New(drift.Options{Redis: options.Redis, Log: a.log, Metrics: a.metrics})
	options.Authority = tra.NewAuthority(client, a.stores.catalogue, tra.AuthorityOptions{
		PerSecond: o.AuthorityRate, Retries: authorityRetries, RateWait: authorityRateWait, Log: a.log,
		OnCall: a.countCall,
		OnAnswer: func(ctx context.Context, request tra.Request, tax vehicle.Tax) {
			detector.OnAnswer(ctx, request, tax)
		},
		OnThrottle: func(reason tra.Reason) { a.metrics.Count("authority_throttled_total", string(reason)) },
		OnBreaker:  a.metrics.Breaker,
	})
	return nil
}

// aiQuestions are the names of what the AI is asked.
var aiQuestions = []string{
	selection.AIQuestion, transcribe.ClassifyQuestion,
	transcribe.ReadQuestion, transcribe.SecondReadingQuestion,
}

// proxyTimeout bounds the look at the authority's proxy when a worker starts.
const proxyTimeout = 3 * time.Second

// logProxy logs whether the authority's proxy can be reached. A worker starts
// without it, because it may come back.
func (a *App) logProxy(client *tra.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), proxyTimeout)
	defer cancel()
	switch host, err := client.DialProxy(ctx); {
	case err != nil:
		a.log.Error("proxy of the authority cannot be reached", "proxy", host, "error", err)
	case host != "":
		a.log.Info("calling the authority through a proxy", "proxy", host)
	}
}
