package api

import (
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/batches"
	"ushuru/api/comparisons"
	"ushuru/api/estimates"
	"ushuru/api/events"
	"ushuru/api/jobs"
	"ushuru/api/reports"
	"ushuru/api/respond"
	"ushuru/api/webhooks"
)

// routes maps every path to its handlers. Middleware is named around them.
func (s *Server) routes() error {
	// Paths are not cleaned: cleaning would answer POST with a redirect.
	s.router = mux.NewRouter().SkipClean(true)
	s.router.NotFoundHandler = respond.ProblemHandler(respond.ErrNotFound)
	s.router.Use(s.named)
	s.router.Handle("/healthz", respond.Methods{http.MethodGet: s.healthz})
	s.router.Handle("/readyz", respond.Methods{http.MethodGet: s.readyz})
	s.router.Handle("/openapi.yaml", respond.Methods{http.MethodGet: serveDocument(openAPIYAML)})
	s.router.Handle("/openapi.json", respond.Methods{http.MethodGet: serveDocument(openAPIJSON)})

	v1 := mux.NewRouter().SkipClean(true)
	v1.NotFoundHandler = respond.ProblemHandler(respond.ErrNotFound)
	v1.Use(s.named)
	defer func() { s.nameRoutes(s.router, v1) }()
	s.registerResources(v1)
	v1.Handle("/v1/sites", respond.Methods{http.MethodGet: sites})
	v1.Handle("/v1/tra-status", respond.Methods{http.MethodGet: s.traStatus})
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

// registerResources adds the endpoints of all resources.
func (s *Server) registerResources(v1 *mux.Router) {
	o := s.options
	streams := events.New(s.draining, o.KeepAlive)
	estimated := estimates.New(estimates.Options{
		Tasks: o.Tasks, Costs: o.Costs, Limits: s.limits, Work: s.work, AllowLoopback: o.AllowLoopback, Log: o.Log,
	})
	reported := reports.New(reports.Options{Sheets: o.Sheets, Limits: s.limits, Work: s.work, AllowLoopback: o.AllowLoopback})
	for _, resource := range []interface{ Register(v1 *mux.Router) }{
		estimated, reported,
		comparisons.New(comparisons.Options{Costs: o.Costs, Limits: s.limits, Work: s.work, AllowLoopback: o.AllowLoopback}),
		jobs.New(jobs.Options{
			Tasks: o.Tasks, Jobs: o.Jobs, Hub: o.Hub, Costs: o.Costs, Limits: s.limits, Work: s.work, Events: streams,
			Estimates: estimated, Reports: reported, WaitMax: o.WaitMax,
		}),
		batches.New(batches.Options{
			Batches: o.Batches, Webhooks: o.Webhooks, Tasks: o.Tasks, Hub: o.Hub, Costs: o.Costs, Outages: s.outages,
			Limits: s.limits, Idempotency: s.idempotency, Work: s.work, Events: streams,
			AllowLoopback: o.AllowLoopback, Log: o.Log,
		}),
		webhooks.New(webhooks.Options{
			Webhooks: o.Webhooks, Limits: s.limits, Idempotency: s.idempotency, Work: s.work, AllowLoopback: o.AllowLoopback,
		}),
		s.vehicles,
	} {
		resource.Register(v1)
	}
	o.Metrics.GaugeFunc("http_waiters", "Requests that wait for the end of a job.",
		func() float64 { return float64(s.work.Waiting()) })
	o.Metrics.GaugeFunc("http_streams", "Open streams of events.",
		func() float64 { return float64(streams.Open()) })
}
