package api

import (
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/batches"
	"ushuru/api/comparisons"
	"ushuru/api/estimates"
	"ushuru/api/jobs"
	"ushuru/api/reports"
	"ushuru/api/respond"
	"ushuru/api/webhooks"
)

// endpoint is one line of the table of routes: a path and what answers each method.
type endpoint struct {
	path    string
	methods respond.Methods
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
		{"/healthz", respond.Methods{get: s.healthz}},
		{"/readyz", respond.Methods{get: s.readyz}},
		{"/openapi.yaml", respond.Methods{get: serveDocument(openAPIYAML)}},
		{"/openapi.json", respond.Methods{get: serveDocument(openAPIJSON)}},
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
		{"/v1/estimate", respond.Methods{post: once(long(on.estimates.PostEstimate))}},
		{"/v1/quote", respond.Methods{post: once(on.estimates.PostQuote)}},
		{"/v1/bill-check", respond.Methods{post: once(on.estimates.PostBill)}},
		{"/v1/compare", respond.Methods{post: withAI(once(on.comparisons.Post))}},
		{"/v1/condition-report", respond.Methods{post: withAI(once(on.reports.Post))}},
		{oneReport + "/map.svg", respond.Methods{get: on.reports.GetDamageMap}},

		{"/v1/jobs", respond.Methods{get: large(on.jobs.List)}},
		{oneJob, respond.Methods{get: on.jobs.Get, remove: on.jobs.Cancel}},
		{oneJob + "/retry", respond.Methods{post: once(on.jobs.Retry)}},
		{oneJob + "/events", respond.Methods{get: on.jobs.Events}},

		{"/v1/batches", respond.Methods{get: on.batches.List, post: once(long(on.batches.Post))}},
		{oneBatch, respond.Methods{get: on.batches.Get, remove: on.batches.Cancel}},
		{oneBatch + "/items", respond.Methods{get: large(on.batches.ListItems)}},
		{oneBatch + "/results", respond.Methods{get: on.batches.GetResults}},
		{oneBatch + "/events", respond.Methods{get: on.batches.Events}},
		{oneBatch + "/retry", respond.Methods{post: once(on.batches.Retry)}},

		{"/v1/webhooks", respond.Methods{get: on.webhooks.List, post: limited(once(on.webhooks.Post))}},
		{oneWebhook, respond.Methods{
			get: of(on.webhooks.Get), patch: limited(on.webhooks.Patch), remove: of(on.webhooks.Remove),
		}},
		{oneWebhook + "/rotate", respond.Methods{post: once(of(on.webhooks.Rotate))}},
		{oneWebhook + "/enable", respond.Methods{post: once(of(on.webhooks.Enable))}},
		{oneWebhook + "/test", respond.Methods{post: limited(once(of(on.webhooks.Test)))}},
		{oneWebhook + "/verify", respond.Methods{post: limited(once(of(on.webhooks.Verify)))}},
		{oneWebhook + "/deliveries", respond.Methods{get: of(on.webhooks.ListDeliveries)}},
		{oneWebhook + "/deliveries/{delivery:[0-9a-z]{1,64}}/redeliver", respond.Methods{
			post: limited(once(of(on.webhooks.Redeliver))),
		}},

		{"/v1/vehicles", respond.Methods{get: s.vehicles.List}},
		{"/v1/vehicles/{modelBody:.+}/years", respond.Methods{
			get: limited(s.vehicles.Years), post: limited(s.vehicles.RequestYears),
		}},
		{"/v1/sites", respond.Methods{get: sites}},
		{"/v1/tra-status", respond.Methods{get: s.traStatus}},
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
		s.router.MethodNotAllowedHandler = respond.ProblemHandler(respond.ErrMethodNotAllowed)
		if err := s.registerPages(v1, operators); err != nil {
			return err
		}
	}
	if operators != nil {
		s.ui.Register(s.router)
		operators.Register(s.router)
		s.router.MethodNotAllowedHandler = respond.ProblemHandler(respond.ErrMethodNotAllowed)
	}
	return nil
}

// newRouter returns a router of endpoints.
func (s *Server) newRouter(endpoints []endpoint) *mux.Router {
	router := mux.NewRouter().SkipClean(true) // cleaning a path would answer POST with a redirect
	router.NotFoundHandler = respond.ProblemHandler(respond.ErrNotFound)
	router.Use(s.named)
	for _, e := range endpoints {
		router.Handle(e.path, e.methods)
	}
	return router
}

// resources answer the requests with a key.
type resources struct {
	estimates   *estimates.Resource
	comparisons *comparisons.Resource
	reports     *reports.Resource
	jobs        *jobs.Resource
	batches     *batches.Resource
	webhooks    *webhooks.Resource
}

// newResources makes the resources, but for the vehicles.
func (s *Server) newResources() (on resources) {
	o := s.options
	streams := await.NewStreams(s.draining, o.KeepAlive)
	on.estimates = estimates.New(estimates.Options{
		Tasks: o.Tasks, Costs: o.Costs, Limits: s.limits, Work: s.work, AllowLoopback: o.AllowLoopback, Log: o.Log,
	})
	on.reports = reports.New(reports.Options{Sheets: o.Sheets, Limits: s.limits, Work: s.work, AllowLoopback: o.AllowLoopback})
	on.comparisons = comparisons.New(comparisons.Options{Costs: o.Costs, Work: s.work, AllowLoopback: o.AllowLoopback})
	on.jobs = jobs.New(jobs.Options{
		Tasks: o.Tasks, Jobs: o.Jobs, Hub: o.Hub, Costs: o.Costs, Limits: s.limits, Work: s.work, Streams: streams,
		Estimates: on.estimates, Reports: on.reports,
	})
	on.batches = batches.New(batches.Options{
		Batches: o.Batches, Webhooks: o.Webhooks, Tasks: o.Tasks, Hub: o.Hub, Costs: o.Costs, Outages: s.outages,
		Limits: s.limits, Work: s.work, Streams: streams, AllowLoopback: o.AllowLoopback, Log: o.Log,
	})
	on.webhooks = webhooks.New(webhooks.Options{Webhooks: o.Webhooks, Work: s.work, AllowLoopback: o.AllowLoopback})
	o.Metrics.GaugeFunc("http_waiters", "Requests that wait for the end of a job.",
		func() float64 { return float64(s.work.Waiting()) })
	o.Metrics.GaugeFunc("http_streams", "Open streams of events.",
		func() float64 { return float64(streams.Open()) })
	return on
}
