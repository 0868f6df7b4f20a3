package api

import (
	"context"
	_ "embed"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"
	"github.com/oasdiff/yaml"

	"ushuru/api/await"
	"ushuru/api/batches"
	"ushuru/api/estimates"
	"ushuru/api/request"
	"ushuru/api/webhooks"
	"ushuru/pkg/drift"
	listingsites "ushuru/pkg/listing/sites"
	"ushuru/pkg/localtime"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
)

// endpoint is one line of the table of routes: a path and what answers each method.
type endpoint struct {
	path    string
	methods request.Methods
}

const (
	get, post, patch, remove = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete

	oneJob     = "/v1/jobs/{id:[0-9A-Za-z]{1,64}}"
	oneBatch   = "/v1/batches/{id:[0-9A-Za-z]{1,64}}"
	oneWebhook = "/v1/webhooks/{id:[0-9a-z]{1,64}}"
	oneReport  = "/v1/condition-report/{id:[0-9a-f]{32}}"
)

// open returns the endpoints that need no key.
func (s *Server) open() []endpoint {
	return []endpoint{
		{"/healthz", request.Methods{get: s.healthz}},
		{"/readyz", request.Methods{get: s.readyz}},
		{"/openapi.yaml", request.Methods{get: serveDocument(1)}},
		{"/openapi.json", request.Methods{get: serveDocument(0)}},
	}
}

// keyed returns the endpoints that need a key. Limited: every request counts against the
// rate of its key; once: the endpoint accepts an Idempotency-Key; withAI: the response has
// the tokens of the AI that the key has used; large: the response takes a place in memory; long: so does the
// body.
func (s *Server) keyed(on resources) []endpoint {
	limited, withAI, large, long := s.limits.RateLimited, s.limits.WithAITokens, s.limits.WithPlace, s.limits.WithBody
	once := await.WithIdempotencyKey
	of := on.webhooks.Of
	return []endpoint{
		{"/v1/estimate", request.Methods{post: once(long(on.estimates.PostEstimate))}},
		{"/v1/quote", request.Methods{post: once(on.estimates.PostQuote)}},
		{"/v1/bill-check", request.Methods{post: once(on.estimates.PostBill)}},
		{"/v1/compare", request.Methods{post: withAI(once(on.estimates.PostComparison))}},
		{"/v1/condition-report", request.Methods{post: withAI(once(on.estimates.PostReport))}},
		{oneReport + "/map.svg", request.Methods{get: on.estimates.GetDamageMap}},

		{"/v1/jobs", request.Methods{get: large(on.estimates.ListJobs)}},
		{oneJob, request.Methods{get: on.estimates.GetJob, remove: on.estimates.CancelJob}},
		{oneJob + "/retry", request.Methods{post: once(on.estimates.RetryJob)}},
		{oneJob + "/events", request.Methods{get: on.estimates.JobEvents}},

		{"/v1/batches", request.Methods{get: on.batches.List, post: once(long(on.batches.Post))}},
		{oneBatch, request.Methods{get: on.batches.Get, remove: on.batches.Cancel}},
		{oneBatch + "/items", request.Methods{get: large(on.batches.ListItems)}},
		{oneBatch + "/results", request.Methods{get: on.batches.GetResults}},
		{oneBatch + "/events", request.Methods{get: on.batches.Events}},
		{oneBatch + "/retry", request.Methods{post: once(on.batches.Retry)}},

		{"/v1/webhooks", request.Methods{get: on.webhooks.List, post: limited(once(on.webhooks.Post))}},
		{oneWebhook, request.Methods{
			get: of(on.webhooks.Get), patch: limited(on.webhooks.Patch), remove: of(on.webhooks.Remove),
		}},
		{oneWebhook + "/rotate", request.Methods{post: once(of(on.webhooks.Rotate))}},
		{oneWebhook + "/enable", request.Methods{post: once(of(on.webhooks.Enable))}},
		{oneWebhook + "/test", request.Methods{post: limited(once(of(on.webhooks.Test)))}},
		{oneWebhook + "/verify", request.Methods{post: limited(once(of(on.webhooks.Verify)))}},
		{oneWebhook + "/deliveries", request.Methods{get: of(on.webhooks.ListDeliveries)}},
		{oneWebhook + "/deliveries/{delivery:[0-9a-z]{1,64}}/redeliver", request.Methods{
			post: limited(once(of(on.webhooks.Redeliver))),
		}},

		{"/v1/vehicles", request.Methods{get: s.vehicles.List}},
		{"/v1/vehicles/{modelBody:.+}/years", request.Methods{
			get: limited(s.vehicles.Years), post: limited(s.vehicles.Years),
		}},
		{"/v1/sites", request.Methods{get: sites}},
		{"/v1/tra-status", request.Methods{get: s.traStatus}},
	}
}

// routes maps every path to its handlers. Middleware is named around them.
func (s *Server) routes() error {
	s.router = s.newRouter(s.open())
	v1 := s.newRouter(s.keyed(s.newResources()))
	defer func() { s.nameRoutes(s.router, v1) }()
	s.router.PathPrefix("/v1/").Handler(s.authenticated(v1))
	operators, err := s.newConsole()
	if err != nil {
		return err
	}
	if s.options.Page.Enabled {
		if err := s.registerPages(v1, operators); err != nil {
			return err
		}
	}
	if operators != nil {
		s.ui.Register(s.router)
		operators.Register(s.router)
	}
	return nil
}

// newRouter returns a router of endpoints.
func (s *Server) newRouter(endpoints []endpoint) *mux.Router {
	router := mux.NewRouter().SkipClean(true) // cleaning a path would answer POST with a redirect
	router.NotFoundHandler = request.ProblemHandler(request.ErrNotFound)
	router.MethodNotAllowedHandler = request.ProblemHandler(request.ErrMethodNotAllowed)
	router.Use(s.named)
	for _, e := range endpoints {
		router.Handle(e.path, e.methods)
	}
	return router
}

// resources answer the requests with a key.
type resources struct {
	estimates *estimates.Resource
	batches   *batches.Resource
	webhooks  *webhooks.Resource
}

// newResources makes the resources, but for the vehicles.
func (s *Server) newResources() (on resources) {
	o := s.options
	streams := await.NewStreams(s.draining, o.KeepAlive)
	on.estimates = estimates.New(estimates.Options{
		Tasks: o.Tasks, Jobs: o.Jobs, Cache: o.Cache, Hub: o.Hub, Costs: o.Costs, Sheets: o.Sheets, Limits: s.limits,
		Work: s.work, Streams: streams, AllowLoopback: o.AllowLoopback, Log: o.Log,
	})
	on.batches = &batches.Resource{
		Batches: o.Batches, Webhooks: o.Webhooks, Tasks: o.Tasks, Hub: o.Hub, Costs: o.Costs, Outages: s.outages,
		Limits: s.limits, Work: s.work, Streams: streams, AllowLoopback: o.AllowLoopback, Log: o.Log,
	}
	on.webhooks = &webhooks.Resource{Webhooks: o.Webhooks, Work: s.work, AllowLoopback: o.AllowLoopback}
	o.Metrics.GaugeFunc("http_waiters", "Requests that wait for the end of a job.",
		func() float64 { return float64(s.work.Waiting()) })
	o.Metrics.GaugeFunc("http_streams", "Open streams of events.",
		func() float64 { return float64(streams.Open()) })
	return on
}

// healthz answers GET /healthz: the process is up.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return request.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz answers GET /readyz: requests can be served, because Redis accepts a write
// in time and the server is not shutting down.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.unready.Load() {
		return request.ErrUnavailable.WithCause(errors.New("the server is shutting down"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := redisx.CheckWrite(ctx, s.options.Redis); err != nil {
		return err
	}
	return request.WriteJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// traStatus answers GET /v1/tra-status from what the workers recorded in Redis.
// It never calls TRA.
func (s *Server) traStatus(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	status, err := s.options.Status(ctx)
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	rules, err := s.options.Drift.State(ctx)
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	for _, at := range []**time.Time{
		&status.CheckedAt, &status.LastSuccessAt, &status.LastFailureAt, &rules.Since, &rules.CheckedAt,
	} {
		*at = localtime.OfPointer(*at)
	}
	if last := rules.LastDifference; last != nil {
		shown := *last
		shown.At = localtime.Of(last.At)
		rules.LastDifference = &shown
	}
	return request.WriteJSON(w, http.StatusOK, struct {
		tra.Status
		Details drift.State `json:"details"`
	}{status, rules})
}

// sites answers GET /v1/sites: the supported listing sites and what each
// provides.
func sites(w http.ResponseWriter, _ *http.Request) error {
	return request.WriteJSON(w, http.StatusOK, map[string][]listingsites.Info{"sites": listingsites.All()})
}

//go:embed openapi.yaml
var openAPIYAML []byte

// openAPIJSON is the description of the API as JSON.
var openAPIJSON = sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(openAPIYAML) })

// documents are the descriptions of the API, compressed.
var documents = sync.OnceValues(func() (of [2]*request.Document, err error) {
	data, err := openAPIJSON()
	if err == nil {
		of[0], err = request.NewDocument("application/json", data)
	}
	if err == nil {
		of[1], err = request.NewDocument("application/yaml", openAPIYAML)
	}
	return of, err
})

// serveDocument answers GET /openapi.json (0) and GET /openapi.yaml (1).
func serveDocument(which int) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, err := documents()
		if err == nil {
			of[which].Write(w, r)
		}
		return err
	}
}

// named is the middleware that records the route of a request, for the metrics.
func (s *Server) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route := mux.CurrentRoute(r); route != nil {
			template, _ := route.GetPathTemplate() // every route has one
			request.SetRoute(w, s.templates[template])
		}
		next.ServeHTTP(w, r)
	})
}

// nameRoutes adds the routes of routers to the metrics.
func (s *Server) nameRoutes(routers ...*mux.Router) {
	s.templates = map[string]string{}
	for _, router := range routers {
		_ = router.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error { // which returns no error
			template, err := route.GetPathTemplate()
			if err != nil {
				return nil //nolint:nilerr // it has no path
			}
			name := withoutPatterns(template)
			s.templates[template] = name
			for _, method := range methodsOf(route) {
				s.options.Metrics.AddRoute(name, method, strings.HasSuffix(name, "/events"))
			}
			return nil
		})
	}
}

// methodsOf returns the methods that a route answers, without HEAD and OPTIONS.
func methodsOf(route *mux.Route) []string {
	if byMethod, ok := route.GetHandler().(request.Methods); ok {
		return slices.Collect(maps.Keys(byMethod))
	}
	if named, err := route.GetMethods(); err == nil {
		return slices.DeleteFunc(slices.Clone(named), func(method string) bool { return method == http.MethodHead })
	}
	return []string{http.MethodGet, http.MethodPost, http.MethodDelete}
}

// withoutPatterns returns the template of a route without the patterns of its variables:
// /v1/jobs/{id} of /v1/jobs/{id:[0-9A-Za-z]{1,64}}.
func withoutPatterns(template string) string {
	var name strings.Builder
	depth, inPattern := 0, false
	for _, char := range template {
		switch {
		case char == '{':
			depth++
		case char == '}':
			depth--
			inPattern = inPattern && depth > 0
		case char == ':' && depth == 1:
			inPattern = true
		}
		if !inPattern {
			name.WriteRune(char)
		}
	}
	return name.String()
}
