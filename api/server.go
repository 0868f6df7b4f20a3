// Package api is the HTTP side of Ushuru: it checks who asks and what, looks
// in the cache, hands the work to the queue and waits for it. It never talks
// to a listing site, an AI or the authority. openapi.yaml describes every
// answer; the tests hold every answer to it.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorilla/mux"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/sheet"
	"ushuru/pkg/tra"
	"ushuru/pkg/upload"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	// redisPatience bounds every look into Redis, so that no caller hangs on
	// one that is gone. The client must obey contexts
	// (redis.Options.ContextTimeoutEnabled, as redisx sets it).
	redisPatience = 3 * time.Second

	defaultWaitMax = 60 * time.Second
)

// AuthorityStatus tells how the authority's calculator is doing, from what
// the workers' probes left in Redis.
type AuthorityStatus interface {
	Status(ctx context.Context) (tra.Status, error)
}

// Options is what a Server is made of. All of it is needed unless its comment
// says otherwise; connections stay the caller's.
type Options struct {
	Redis redis.UniversalClient
	Jobs  *jobs.Store
	Hub   *jobs.Hub     // somebody must be in its Run
	Tasks *tasks.Engine // where jobs are handed in
	Keys  *keys.Store
	Cache *cache.Cache
	TRA   AuthorityStatus

	// Costs reckon the drive-away cost at another rate; nil are those that
	// come with the program.
	Costs *cost.Tables
	// Sheets are the hosts that inspection sheets are fetched from; nil: those
	// that are known.
	Sheets *sheet.Hosts

	// Log receives one line for each request; nil is slog's default.
	Log *slog.Logger
	// Limits are those of keys that have none of their own; 0 is no limit.
	Limits keys.Limits
	// WaitMax is how long a caller may wait for a result; 0 is 60 s.
	WaitMax time.Duration
	// KeepAlive is how often a quiet stream of events says that it is there;
	// 0 is 15 s.
	KeepAlive time.Duration
	// AllowLoopback admits listings on this machine: demo and tests.
	AllowLoopback bool
	// Simulated says on every answer that its figures are made up.
	Simulated bool

	// The queue's page at /monitoring. Without a password there is none; then
	// the rest may be empty too.
	AsynqRedis         asynq.RedisConnOpt
	MonitoringUser     string
	MonitoringPassword string
	MonitoringWritable bool // the page may pause queues, run and delete tasks
}

// Server answers every request of the API. It is an http.Handler.
type Server struct {
	options  Options
	router   *mux.Router
	draining context.Context //nolint:containedctx // the life of the server, not of a call
	drain    context.CancelFunc
	labels   *tra.Store
	batches  *batch.Store
	webhooks *webhook.Store
	requests *idempotency.Store
	streams  streams
	costs    *cost.Tables
	limiter  *keys.Limiter
	uploads  *upload.Store
	forms    chan struct{} // holds one for each form that is being read
	page     *monitoring   // nil when there is none
}

// New makes a Server, or tells which option is missing. Close it at the end.
func New(options Options) (*Server, error) {
	if options.Redis == nil || options.Jobs == nil || options.Hub == nil || options.Tasks == nil ||
		options.Keys == nil || options.Cache == nil || options.TRA == nil {
		return nil, errors.New("api: one of Redis, Jobs, Hub, Tasks, Keys, Cache and TRA is missing")
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	if options.Costs == nil {
		options.Costs = cost.Embedded()
	}
	if options.KeepAlive == 0 {
		options.KeepAlive = keepAlive
	}
	if options.WaitMax == 0 {
		options.WaitMax = defaultWaitMax
	}
	if options.Sheets == nil {
		var err error
		if options.Sheets, err = sheet.NewHosts(); err != nil {
			return nil, err
		}
	}
	s := &Server{
		options: options, labels: tra.NewStore(options.Redis, tra.StoreOptions{}),
		batches: batch.NewStore(options.Redis), webhooks: webhook.NewStore(options.Redis),
		requests: idempotency.NewStore(options.Redis),
		costs:    options.Costs, limiter: keys.NewLimiter(options.Redis),
		uploads: upload.NewStore(options.Redis), forms: make(chan struct{}, formsAtOnce),
	}
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
	s.router.NotFoundHandler = refuse(errNoRoute)
	s.router.Handle("/healthz", methods{http.MethodGet: s.healthz})
	s.router.Handle("/readyz", methods{http.MethodGet: s.readyz})
	s.router.Handle("/openapi.yaml", methods{http.MethodGet: s.openapi})

	v1 := mux.NewRouter().SkipClean(true)
	v1.NotFoundHandler = refuse(errNoRoute)
	v1.Handle("/v1/estimate", methods{http.MethodPost: s.postEstimate})
	v1.Handle("/v1/quote", methods{http.MethodPost: s.postQuote})
	v1.Handle("/v1/jobs/{id:[0-9A-Za-z]{1,64}}/events", methods{http.MethodGet: s.jobEvents})
	s.routeWebhooks(v1)
	v1.Handle("/v1/batches", methods{http.MethodGet: s.listBatches, http.MethodPost: s.postBatch})
	const one = "/v1/batches/{id:[0-9A-Za-z]{1,64}}"
	v1.Handle(one, methods{http.MethodGet: s.getBatch, http.MethodDelete: s.cancelBatch})
	v1.Handle(one+"/items", methods{http.MethodGet: s.listItems})
	v1.Handle(one+"/results", methods{http.MethodGet: s.getResults})
	v1.Handle(one+"/events", methods{http.MethodGet: s.batchEvents})
	v1.Handle(one+"/retry", methods{http.MethodPost: s.retryBatch})
	v1.Handle("/v1/jobs/{id:[0-9A-Za-z]{1,64}}", methods{http.MethodGet: s.getJob, http.MethodDelete: s.deleteJob})
	v1.Handle("/v1/compare", methods{http.MethodPost: s.postCompare})
	v1.Handle("/v1/condition-report", methods{http.MethodPost: s.postReport})
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
