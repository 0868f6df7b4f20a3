// Package api serves Ushuru's HTTP API. A handler checks the key and the
// request, looks for a cached result, submits a job to the task engine and
// waits for its result. The package never calls a listing site, an AI or TRA;
// the workers do. openapi.yaml describes every response, and the tests check
// every response against it.
package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/api/await"
	"ushuru/api/console"
	"ushuru/api/monitoring"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/vehicles"
	"ushuru/api/web"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/connlimit"
	"ushuru/pkg/cost"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/logs"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// The errors of package api itself. Resources and respond have their own.
var (
	errUnauthorized = &problem.Problem{ // the contract has its sentence, in one language
		Status: http.StatusUnauthorized, Notice: message.Notice{Code: "api_key_invalid", Message: "Invalid or missing API key"},
	}
	errAmbiguousLength = problem.BadRequest("length_ambiguous")
)

// Options are the parts and settings of a Server. Every part is required
// unless its comment says otherwise. Parts are built once, by the caller, who
// also closes them.
type Options struct {
	Redis redis.UniversalClient // written to by GET /readyz
	Tasks *tasks.Engine         // submits jobs
	Jobs  *jobs.Store
	Hub   *jobs.Hub // its Run must be running

	Batches   *batch.Store
	Bytes     *pace.Accounts
	Cache     *cache.Cache
	Catalogue *tra.Store
	Drift     *drift.Store
	Rates     *pace.Rates
	Processor *pace.Processor // nil makes that of a process that does nothing else
	Webhooks  *webhook.Store

	// Verify returns the record of a valid API key, or keys.ErrInvalid.
	Verify func(ctx context.Context, plain string) (keys.Key, error)
	// Status returns the status of TRA's calculator. Nil is that of the Catalogue.
	Status func(ctx context.Context) (tra.Status, error)
	// Confirm returns when replicas of Redis have what was written, as the operator
	// demands, or an error: then 503 is answered in place of 202 or 201. Nil demands
	// nothing.
	Confirm func(ctx context.Context) error
	// AIUsage returns how many tokens of the AI a key has used today, and when the day
	// ends. Nil knows of none.
	AIUsage func(ctx context.Context, key string) (used int64, resets time.Time, err error)
	// Costs calculates the drive-away cost at the caller's exchange rate. Nil
	// means the embedded tables.
	Costs *cost.Tables
	// Sheets are the hosts that inspection sheets are fetched from. Nil means
	// the known hosts.
	Sheets *scan.Hosts

	// Log receives one line for each request. Nil means slog.Default().
	Log *slog.Logger
	// Limits apply to keys without limits of their own. 0 means no limit.
	Limits pace.Limits
	// WaitMax is the longest time that a request waits for a result. 0 means
	// 25 s.
	WaitMax time.Duration
	// KeepAlive is the interval between comments on an event stream without
	// events. 0 means 15 s.
	KeepAlive time.Duration
	// AllowLoopback accepts listings and webhooks on this machine, for the demo
	// and for tests.
	AllowLoopback bool
	// Simulated adds X-Simulated to every response: the figures are simulated.
	Simulated bool

	Page PageOptions

	// TrustedProxies are networks of proxies whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Traces record the requests. Nil records none.
	Traces *trace.Tracer
	// Metrics count the requests. Nil counts none.
	Metrics *metrics.Metrics

	// Asynqmon is served at /monitoring. Without a password it is not served,
	// and AsynqRedis and MonitoringUser may be empty.
	AsynqRedis         asynq.RedisConnOpt
	MonitoringUser     string
	MonitoringPassword string
	MonitoringWritable bool // the operator may pause queues, run and delete tasks
}

// defaultWaitMax is Options.WaitMax when that is 0.
const defaultWaitMax = 25 * time.Second

// setDefaults fills the optional parts that were left out.
func (o *Options) setDefaults() (err error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Processor == nil {
		o.Processor = pace.NewProcessor(runtime.GOMAXPROCS(0))
	}
	o.Costs = cmp.Or(o.Costs, cost.Embedded())
	o.KeepAlive = cmp.Or(o.KeepAlive, await.KeepAlive)
	o.WaitMax = cmp.Or(o.WaitMax, defaultWaitMax)
	o.Page.Jobs, o.Page.Rate = cmp.Or(o.Page.Jobs, defaultPageJobs), cmp.Or(o.Page.Rate, defaultPageRate)
	if o.Status == nil {
		o.Status = o.Catalogue.Status
	}
	if o.Sheets == nil {
		o.Sheets, err = scan.NewHosts()
	}
	return err
}

// Server serves every endpoint of the API. It is an http.Handler.
type Server struct {
	options  Options
	router   *mux.Router
	handler  http.Handler    // the router, with responses in the coding that the caller wants
	draining context.Context //nolint:containedctx // the life of the server, not of a call
	drain    context.CancelFunc
	unready  atomic.Bool // SetUnready was called
	vehicles *vehicles.Resource
	limits   *await.Limits
	work     *await.Work
	outages  *tra.Outages
	ui       *monitoring.Resource // nil without a monitoring password

	templates map[string]string // of the routes, as the metrics name them
}

// New makes a Server. Close it at the end.
func New(options Options) (*Server, error) {
	if err := options.setDefaults(); err != nil {
		return nil, err
	}
	s := &Server{
		options: options, limits: await.NewLimits(await.LimitOptions{
			Rates: options.Rates, Processor: options.Processor, Bytes: options.Bytes,
			Rows: pace.NewAccounts(options.Redis, pace.KindRows), Jobs: options.Jobs, Batches: options.Batches,
			AIUsage: options.AIUsage, Limits: options.Limits, WaitMax: options.WaitMax,
		}),
		outages: tra.NewOutages(options.Status),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.work = await.New(await.Options{
		Redis: options.Redis, Tasks: options.Tasks, Jobs: options.Jobs, Hub: options.Hub, Cache: options.Cache,
		Webhooks: options.Webhooks, Limits: s.limits, Outages: s.outages,
		Confirm: options.Confirm, WaitMax: options.WaitMax, Draining: s.draining,
	})
	s.vehicles = vehicles.New(vehicles.Options{
		Catalogue: options.Catalogue, Jobs: options.Jobs, Tasks: options.Tasks, Costs: options.Costs, Outages: s.outages,
		Limits: s.limits, Work: s.work,
	})
	err := s.routes()
	if err == nil {
		s.handler, err = request.Compressed(s.router)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// SetUnready has /readyz answer 503, and every response close its connection, so
// that clients and balancers send their next requests elsewhere. Call it some
// seconds before Drain.
func (s *Server) SetUnready() { s.unready.Store(true) }

// Drain ends all waits: requests that wait for a job respond with its URL, event
// streams end, and /readyz answers 503. Call it before http.Server.Shutdown.
func (s *Server) Drain() {
	s.SetUnready()
	s.drain()
}

// Close drains the server and closes the connections that New opened. The
// stores of Options stay open.
func (s *Server) Close() error {
	s.drain()
	if s.ui == nil {
		return nil
	}
	return s.ui.Close()
}

// validRequestID matches request ids that are safe in a log and in a header.
var validRequestID = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

// ServeHTTP serves every request: it gives it an id, calls its handler, answers
// 500 if the handler panics, and logs it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, address := time.Now(), s.addressOf(r)
	known := &request.Request{ID: r.Header.Get("X-Request-ID"), Address: address.String(), Network: request.NetworkOf(address)}
	rec := &request.Recorder{ResponseWriter: w, Request: known}
	if !validRequestID.MatchString(known.ID) {
		known.ID = rand.Text()
	}
	s.commonHeaders(w.Header(), known.ID)
	if len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close") // see connlimit.IsAmbiguous
	}
	ctx, span := s.options.Traces.Begin(r.Context(), r.Header.Get("Traceparent"), trace.Server, r.Method)
	r = r.WithContext(logs.With(request.With(ctx, known), "request", known.ID))
	known.Trace = trace.Parent(ctx)
	defer func() {
		cause := recover()
		known.Place.Leave()
		if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is panicked with
			rec.Err, rec.Panicked = fmt.Errorf("panic: %v\n%s", cause, debug.Stack()), true
		}
		started := rec.Status != 0
		if cause != nil && !started {
			_ = request.WriteProblem(rec, request.ErrInternal)
		}
		s.log(r, rec, time.Since(start))
		endSpan(span, r, rec)
		if cause != nil && started {
			panic(http.ErrAbortHandler) // half a response must not look complete
		}
	}()
	if connlimit.IsAmbiguous(r) {
		request.ProblemHandler(errAmbiguousLength).ServeHTTP(rec, r)
		return
	}
	s.handler.ServeHTTP(rec, r)
}

// endSpan ends the span of a request.
func endSpan(span *trace.Span, r *http.Request, rec *request.Recorder) {
	span.Rename(r.Method + " " + rec.Route)
	span.Set("http.response.status_code", rec.Status, "http.route", rec.Route, "ushuru.request", rec.Request.ID,
		"ushuru.job", rec.Request.Job, "ushuru.key", rec.Request.Key.ID, "ushuru.code", rec.Code)
	var failure error
	if rec.Status >= http.StatusInternalServerError {
		failure = rec.Err
	}
	span.End(failure)
}

// commonHeaders sets the headers of every response. They say that it is not a
// page that a browser may run, frame, sniff or store. Handlers of pages set
// others.
func (s *Server) commonHeaders(h http.Header, id string) {
	h.Set("X-Request-ID", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if s.unready.Load() {
		h.Set("Connection", "close")
	}
	if s.options.Simulated {
		h.Set("X-Simulated", "SIMULATED")
	}
}

// log writes one line for a request, and counts it.
func (s *Server) log(r *http.Request, rec *request.Recorder, took time.Duration) {
	s.options.Metrics.Request(rec.Route, r.Method, rec.Status, rec.Code, took)
	level := slog.LevelInfo
	switch {
	case rec.Status >= http.StatusInternalServerError:
		level = slog.LevelError
		if p, ok := errors.AsType[*problem.Problem](rec.Err); ok && !rec.Panicked {
			level = p.Level()
		}
	case r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasPrefix(r.URL.Path, monitoring.Path),
		r.URL.Path == console.Path && r.Method == http.MethodGet:
		level = slog.LevelDebug // these are polled
	}
	if !s.options.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request", rec.Request.ID), slog.String("method", r.Method), slog.String("path", web.LoggedPath(r.URL.Path)),
		slog.Int("status", rec.Status), slog.Int64("bytes", rec.Written), slog.Duration("duration", took),
		slog.String("address", rec.Request.Address),
	}
	if rec.Request.Key.ID != "" {
		attrs = append(attrs, slog.String("key", rec.Request.Key.ID))
	}
	if rec.Request.Refused != "" {
		attrs = append(attrs, slog.String("refused_key", rec.Request.Refused))
	}
	if rec.Request.Job != "" {
		attrs = append(attrs, slog.String("job", rec.Request.Job))
	}
	if rec.Err != nil {
		attrs = append(attrs, slog.String("error", rec.Err.Error()))
	}
	s.options.Log.LogAttrs(r.Context(), level, "request served", attrs...)
}

// authenticated is the middleware that requires a valid API key.
func (s *Server) authenticated(next http.Handler) request.Handler {
	return func(w http.ResponseWriter, plain *http.Request) error {
		r := request.From(plain)
		key, err := s.options.Verify(r.Context(), credential(r.Header))
		switch {
		case errors.Is(err, keys.ErrInvalid):
			r.Refused = key.ID
			w.Header().Set("WWW-Authenticate", `Bearer realm="Ushuru"`)
			return errUnauthorized
		case err != nil:
			return request.ErrUnavailable.WithCause(err)
		}
		r.Key = key
		s.options.Metrics.Recorder().Key(key.ID)
		if err := s.limits.Admit(r); err != nil {
			return err
		}
		if err := r.ReadParameters(s.options.WaitMax); err != nil {
			return err
		}
		request.Decode(plain)
		next.ServeHTTP(w, plain)
		return nil
	}
}

// credential returns the API key of a request, from either header or from both. It is
// empty when two keys differ. An Authorization of another scheme, such as a proxy's, and
// an empty one are no keys.
func credential(h http.Header) (found string) {
	given := slices.Clone(h.Values("X-Api-Key"))
	for _, value := range h.Values("Authorization") {
		if scheme, token, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Bearer") {
			given = append(given, strings.TrimSpace(token))
		}
	}
	for _, key := range given {
		switch {
		case key == "" || key == found:
		case found != "":
			return ""
		default:
			found = key
		}
	}
	return found
}

// addressOf returns the address that a request came from: that of the connection, or,
// when that is a trusted proxy's, the last one of X-Forwarded-For that is not. An IPv6
// network of 64 bits is one address.
func (s *Server) addressOf(r *http.Request) netip.Addr {
	address := connlimit.Owner(remoteAddr(r.RemoteAddr))
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && connlimit.Contains(s.options.TrustedProxies, address); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		address = connlimit.Owner(remoteAddr(netip.AddrPortFrom(next, 0).String()))
	}
	return address
}

// remoteAddr is the RemoteAddr of a request as a net.Addr.
type remoteAddr string

func (remoteAddr) Network() string  { return "tcp" }
func (a remoteAddr) String() string { return string(a) }
