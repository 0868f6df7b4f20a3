// Package api is the HTTP side of Ushuru: it checks who asks and what, looks
// in the cache, hands the work to the queue and waits for it. It never talks
// to a listing site, an AI or the authority. openapi.yaml describes every
// answer; the tests hold every answer to it.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/drift"
	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/quota"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/upload"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	// redisTimeout bounds every look into Redis, so that no caller hangs on
	// one that is gone. The client must obey contexts
	// (redis.Options.ContextTimeoutEnabled, as redisx sets it).
	redisTimeout = 3 * time.Second

	defaultWaitMax = 60 * time.Second
)

// AuthorityStatus tells how the authority's calculator is doing, from what
// the workers' probes left in Redis.
type AuthorityStatus interface {
	Status(ctx context.Context) (tra.Status, error)
}

// Options are the parts and settings of a Server. Every part is required
// unless its comment says otherwise. Parts are built once, by the caller, who
// also closes them.
type Options struct {
	Redis redis.UniversalClient // pinged by GET /readyz
	Tasks *tasks.Engine         // submits jobs
	Jobs  *jobs.Store
	Hub   *jobs.Hub // its Run must be running

	Batches     *batch.Store
	Cache       *cache.Cache
	Catalogue   *tra.Store
	Drift       *drift.Store
	Idempotency *idempotency.Store
	Keys        *keys.Store
	Limiter     *quota.Limiter
	Uploads     *upload.Store
	Webhooks    *webhook.Store
	TRA         AuthorityStatus

	// Costs calculates the drive-away cost at the caller's exchange rate. Nil
	// means the embedded tables.
	Costs *cost.Tables
	// Sheets are the hosts that inspection sheets are fetched from. Nil means
	// the known hosts.
	Sheets *scan.Hosts

	// Log receives one line for each request. Nil means slog.Default().
	Log *slog.Logger
	// Limits apply to keys without limits of their own. 0 means no limit.
	Limits quota.Limits
	// WaitMax is the longest time that a request waits for a result. 0 means
	// 60 s.
	WaitMax time.Duration
	// KeepAlive is the interval between comments on an event stream without
	// events. 0 means 15 s.
	KeepAlive time.Duration
	// AllowLoopback accepts listings and webhooks on this machine, for the demo
	// and for tests.
	AllowLoopback bool
	// Simulated adds X-Simulated to every response: the figures are simulated.
	Simulated bool

	// Asynqmon is served at /monitoring. Without a password it is not served,
	// and AsynqRedis and MonitoringUser may be empty.
	AsynqRedis         asynq.RedisConnOpt
	MonitoringUser     string
	MonitoringPassword string
	MonitoringWritable bool // the operator may pause queues, run and delete tasks
}

// check returns an error that names the missing parts.
func (o *Options) check() error {
	var missing []string
	for name, given := range map[string]bool{
		"Redis": o.Redis != nil, "Tasks": o.Tasks != nil, "Jobs": o.Jobs != nil, "Hub": o.Hub != nil,
		"Batches": o.Batches != nil, "Cache": o.Cache != nil, "Catalogue": o.Catalogue != nil, "Drift": o.Drift != nil,
		"Idempotency": o.Idempotency != nil, "Keys": o.Keys != nil, "Limiter": o.Limiter != nil,
		"Uploads": o.Uploads != nil, "Webhooks": o.Webhooks != nil, "TRA": o.TRA != nil,
	} {
		if !given {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("api: options without %s", strings.Join(missing, ", "))
}

// setDefaults fills the optional parts that were left out.
func (o *Options) setDefaults() (err error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Costs = cmp.Or(o.Costs, cost.Embedded())
	o.KeepAlive = cmp.Or(o.KeepAlive, keepAlive)
	o.WaitMax = cmp.Or(o.WaitMax, defaultWaitMax)
	if o.Sheets == nil {
		o.Sheets, err = scan.NewHosts()
	}
	return err
}

// Server serves every endpoint of the API. It is an http.Handler.
type Server struct {
	options  Options
	router   *mux.Router
	draining context.Context //nolint:containedctx // the life of the server, not of a call
	drain    context.CancelFunc
	streams  streams
	forms    chan struct{} // holds one for each form that is being read
	page     *monitoring   // nil when there is none
}

// New makes a Server, or returns an error that names the missing parts. Close
// it at the end.
func New(options Options) (*Server, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if err := options.setDefaults(); err != nil {
		return nil, err
	}
	s := &Server{options: options, forms: make(chan struct{}, maxConcurrentForms)}
	s.draining, s.drain = context.WithCancel(context.Background())
	if err := s.routes(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Drain ends all waiting: everybody who waits for a job is told where to read
// it later, and /readyz says no. For http.Server.RegisterOnShutdown.
func (s *Server) Drain() { s.drain() }

// Close drains and closes what New opened.
func (s *Server) Close() error {
	s.drain()
	if s.page == nil {
		return nil
	}
	return s.page.Close()
}

func (s *Server) routes() error {
	// Paths are taken as they come: cleaning would answer POST with a redirect.
	s.router = mux.NewRouter().SkipClean(true)
	s.router.NotFoundHandler = problemHandler(errNotFound)
	s.router.Handle("/healthz", methods{http.MethodGet: s.healthz})
	s.router.Handle("/readyz", methods{http.MethodGet: s.readyz})
	s.router.Handle("/openapi.yaml", methods{http.MethodGet: s.openapi})

	v1 := mux.NewRouter().SkipClean(true)
	v1.NotFoundHandler = problemHandler(errNotFound)
	v1.Handle("/v1/estimate", methods{http.MethodPost: idempotent(s.postEstimate)})
	v1.Handle("/v1/quote", methods{http.MethodPost: idempotent(s.postQuote)})
	v1.Handle("/v1/jobs/{id:[0-9A-Za-z]{1,64}}/events", methods{http.MethodGet: s.jobEvents})
	s.routeWebhooks(v1)
	v1.Handle("/v1/batches", methods{http.MethodGet: s.listBatches, http.MethodPost: idempotent(s.postBatch)})
	const one = "/v1/batches/{id:[0-9A-Za-z]{1,64}}"
	v1.Handle(one, methods{http.MethodGet: s.getBatch, http.MethodDelete: s.cancelBatch})
	v1.Handle(one+"/items", methods{http.MethodGet: s.listItems})
	v1.Handle(one+"/results", methods{http.MethodGet: s.getResults})
	v1.Handle(one+"/events", methods{http.MethodGet: s.batchEvents})
	v1.Handle(one+"/retry", methods{http.MethodPost: idempotent(s.retryBatch)})
	v1.Handle("/v1/jobs/{id:[0-9A-Za-z]{1,64}}", methods{http.MethodGet: s.getJob, http.MethodDelete: s.deleteJob})
	v1.Handle("/v1/compare", methods{http.MethodPost: idempotent(s.postCompare)})
	v1.Handle("/v1/condition-report", methods{http.MethodPost: idempotent(s.postReport)})
	v1.Handle("/v1/condition-report/{id:[0-9a-f]{32}}/map.svg", methods{http.MethodGet: s.getDamageMap})
	v1.Handle("/v1/sites", methods{http.MethodGet: sites})
	v1.Handle("/v1/vehicles", methods{http.MethodGet: s.vehicles})
	v1.Handle("/v1/tra-status", methods{http.MethodGet: s.traStatus})
	s.router.PathPrefix("/v1/").Handler(s.authenticated(v1))

	if s.options.MonitoringPassword == "" {
		return nil
	}
	var err error
	if s.page, err = newMonitoring(s.options); err != nil {
		return err
	}
	s.router.Handle(monitoringPath, s.page)
	s.router.PathPrefix(monitoringPath + "/").Handler(s.page)
	return nil
}
