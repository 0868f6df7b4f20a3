package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ushuru/api"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/drift"
	"ushuru/pkg/fetch"
	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/quota"
	"ushuru/pkg/redisx"
	"ushuru/pkg/sheet"
	"ushuru/pkg/tra"
	"ushuru/pkg/upload"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
	"ushuru/worker"
)

// run is one run of the program: what its commands share.
type run struct {
	Streams
	ctx    context.Context //nolint:containedctx // the life of the process, not of a call
	common Common
	log    *slog.Logger
	costs  *cost.Tables // nil: those that come with the program
	closer []func()
	sheets *sheet.Hosts // that inspection sheets are fetched from; nil is the known ones
	failed chan error   // holds the first error of a part that should have gone on
}

// onClose has something undone at the end, last things first.
func (r *run) onClose(undo func()) { r.closer = append(r.closer, undo) }

func (r *run) close() {
	for _, undo := range slices.Backward(r.closer) {
		undo()
	}
}

// redis connects; embedded permits the Redis inside the process.
func (r *run) redis(config redisConfig, embedded bool) (*redisx.Conn, error) {
	conn, err := redisx.Open(r.ctx, redisx.Options{
		URL: string(config.RedisURL), AllowEmbedded: embedded && !r.common.production(), PoolSize: config.RedisPoolSize,
	})
	if errors.Is(err, redisx.ErrEmbeddedRefused) {
		return nil, errors.New("set REDIS_URL to the address of a Redis server, for example redis://localhost:6379")
	}
	if err != nil {
		return nil, err
	}
	r.onClose(func() { _ = conn.Close() })
	for _, warning := range conn.Warnings(r.ctx) {
		r.log.Warn(warning)
	}
	return conn, nil
}

// demoParts is what the demo alone may switch on: no setting does.
type demoParts struct {
	allowLoopback bool
	simulated     bool
}

// startAPI begins to answer HTTP on a listener.
func (r *run) startAPI(config httpConfig, listener net.Listener, conn *redisx.Conn, demo demoParts) error {
	store := jobs.NewStore(conn.Client())
	hub := jobs.NewHub(store)
	hosts, err := r.sheetHosts()
	if err != nil {
		return err
	}
	catalogue := tra.NewStore(conn.Client(), tra.StoreOptions{})
	handler, err := api.New(api.Options{
		Redis: conn.Client(), Jobs: store, Hub: hub, Tasks: tasks.NewEngine(conn.Client(), store),
		Batches: batch.NewStore(conn.Client()), Cache: cache.New(conn.Client()), Catalogue: catalogue, TRA: catalogue,
		Drift: drift.NewStore(conn.Client()), Idempotency: idempotency.NewStore(conn.Client()),
		Keys: keys.NewStore(conn.Client()), Limiter: quota.NewLimiter(conn.Client()),
		Uploads: upload.NewStore(conn.Client()), Webhooks: webhook.NewStore(conn.Client()),
		Costs: r.costs, Sheets: hosts, Log: r.log, WaitMax: config.WaitMax, Limits: config.limits(),
		AllowLoopback: demo.allowLoopback, Simulated: demo.simulated,
		AsynqRedis: conn.AsynqOpt(), MonitoringUser: config.OperatorUser,
		MonitoringPassword: string(config.OperatorPassword), MonitoringWritable: config.MonitoringWritable,
	})
	if err != nil {
		return err
	}
	listening, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	go hub.Run(listening)
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      config.WaitMax + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(r.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(handler.Drain)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.fail(fmt.Errorf("the API stopped: %w", err))
		}
	}()
	r.onClose(func() {
		stopping, done := context.WithTimeout(context.WithoutCancel(r.ctx), 10*time.Second)
		defer done()
		err := errors.Join(server.Shutdown(stopping), handler.Close())
		cancel()
		r.log.Info("the API stopped", "error", err)
	})
	r.log.Info("the API listens", "address", listener.Addr().String())
	return nil
}

// authorityRetries is how often a call to the authority is made again at once.
// When three calls in ten fail, one in a hundred still does after as many.
const authorityRetries = 3

// startWorker begins to take tasks.
func (r *run) startWorker(config workerConfig, upstream authorityConfig, conn *redisx.Conn, demo demoParts) error {
	catalogue := tra.NewStore(conn.Client(), tra.StoreOptions{})
	options := worker.Options{
		Redis: conn.Client(), Roles: config.Roles, Log: r.log, Catalogue: catalogue,
		Concurrency: config.Concurrency, AuthorityConcurrency: config.AuthorityConcurrency,
		BatchWindow: config.BatchWindow, AIConcurrency: config.AIConcurrency, ShutdownTimeout: config.ShutdownTimeout,
		Costs: r.costs,
	}
	hosts, err := r.sheetHosts()
	if err != nil {
		return err
	}
	options.SheetURL = func(raw string) (string, error) { return hosts.Canonical(raw, demo.allowLoopback) }
	counters, err := r.metrics(config.MetricsAddr)
	if err != nil {
		return err
	}
	options.Metrics = counters
	if slices.Contains(config.Roles, tasks.RoleAny) || slices.Contains(config.Roles, tasks.RoleAI) {
		if err := r.readers(&options, config, conn, counters, demo); err != nil {
			return err
		}
	}
	if slices.Contains(config.Roles, tasks.RoleAuthority) {
		client, err := tra.NewClient(tra.Options{
			BaseURL: upstream.AuthorityURL, Timeout: upstream.AuthorityTimeout, CAFile: upstream.AuthorityCAFile,
		})
		if err != nil {
			return err
		}
		r.onClose(client.Close)
		watch, err := drift.New(drift.Options{Redis: conn.Client(), Log: r.log, Metrics: counters})
		if err != nil {
			return err
		}
		options.Authority = tra.NewAuthority(client, catalogue, tra.AuthorityOptions{
			PerSecond: upstream.AuthorityRate, Retries: authorityRetries,
			OnAnswer: func(ctx context.Context, asked tra.Request, tax vehicle.Tax) {
				watch.OnAnswer(ctx, asked, tax)
			},
		})
	}
	w, err := worker.New(options)
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	r.onClose(w.Stop)
	return nil
}

// sheetHosts are the hosts that inspection sheets are fetched from.
func (r *run) sheetHosts() (hosts *sheet.Hosts, err error) {
	if r.sheets == nil {
		err = r.loadSheets(sheetConfig{})
	}
	return r.sheets, err
}

// readers gives a worker what it needs to fetch and read pages and sheets.
func (r *run) readers(
	options *worker.Options, config workerConfig, conn *redisx.Conn, counters prometheus.Registerer, demo demoParts,
) error {
	pages, err := fetch.New(fetch.Options{
		Timeout: config.FetchTimeout, UserAgent: config.UserAgent, AllowLoopback: demo.allowLoopback,
		Redis: conn.Client(), Rate: config.FetchRate,
	})
	if err != nil {
		return err
	}
	r.onClose(pages.Close)
	model, err := r.model(config.aiConfig, conn.Client(), counters)
	if err != nil {
		return err
	}
	options.Fetch, options.Match, options.AI = pages, config.matching(model), model
	if !slices.Contains(config.Roles, tasks.RoleAI) {
		return nil
	}
	options.Sheets, err = sheet.NewLoader(sheet.Options{
		Client: pages, Hosts: r.sheets, AllowLoopback: demo.allowLoopback, CacheDir: config.SheetCacheDir,
	})
	if err != nil {
		return err
	}
	r.onClose(func() { _ = options.Sheets.Close() })
	return nil
}

// listen opens a TCP port.
func (r *run) listen(at address) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(r.ctx, "tcp", string(at))
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", at, err)
	}
	return listener, nil
}

// fail ends untilStopped with an error.
func (r *run) fail(err error) {
	select {
	case r.failed <- err:
	default: // one is enough
	}
}

// untilStopped waits for the signal to stop, or for a part to fail.
func (r *run) untilStopped() error {
	select {
	case err := <-r.failed:
		return err
	case <-r.ctx.Done():
		r.log.Info("stopping")
		return nil
	}
}
