// Package api serves Ushuru's HTTP API. A handler checks the key and the
// request, looks for a cached result, submits a job to the task engine and
// waits for its result. The package never calls a listing site, an AI or TRA;
// the workers do. openapi.yaml describes every response, and the tests check
// every response against it.
package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/console"
	"ushuru/api/monitoring"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/vehicles"
	"ushuru/api/web"
	"ushuru/pkg/connlimit"
	"ushuru/pkg/logs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
)

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

// The errors of package api itself. Resources and respond have their own.
var (
	errUnauthorized = &problem.Problem{ // the contract has its sentence, in one language
		Status: http.StatusUnauthorized, Notice: message.Notice{Code: "api_key_invalid", Message: "Invalid or missing API key"},
	}
	errAmbiguousLength = problem.BadRequest("length_ambiguous")
)
