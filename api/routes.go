package api

import (
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/idempotencykey"
	"ushuru/api/monitoring"
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
	v1.Handle("/v1/estimate", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.postEstimate)})
	v1.Handle("/v1/quote", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.postQuote)})
	v1.Handle("/v1/compare", respond.Methods{http.MethodPost: s.limits.WithAITokens(idempotencykey.Accepted(s.postCompare))})
	v1.Handle("/v1/condition-report", respond.Methods{http.MethodPost: s.limits.WithAITokens(idempotencykey.Accepted(s.postReport))})
	v1.Handle("/v1/condition-report/{id:[0-9a-f]{32}}/map.svg", respond.Methods{http.MethodGet: s.getDamageMap})
	s.routeJobs(v1)
	v1.Handle("/v1/batches", respond.Methods{http.MethodGet: s.listBatches, http.MethodPost: idempotencykey.Accepted(s.postBatch)})
	const batch = "/v1/batches/{id:[0-9A-Za-z]{1,64}}"
	v1.Handle(batch, respond.Methods{http.MethodGet: s.getBatch, http.MethodDelete: s.cancelBatch})
	v1.Handle(batch+"/items", respond.Methods{http.MethodGet: s.limits.WithPlace(s.listItems)})
	v1.Handle(batch+"/results", respond.Methods{http.MethodGet: s.getResults})
	v1.Handle(batch+"/events", respond.Methods{http.MethodGet: s.batchEvents})
	v1.Handle(batch+"/retry", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.retryBatch)})
	webhooks.New(webhooks.Options{
		Webhooks: s.options.Webhooks, Limits: s.limits, Idempotency: s.idempotency, Work: s.work,
		AllowLoopback: s.options.AllowLoopback,
	}).Register(v1)
	s.vehicles.Register(v1)
	v1.Handle("/v1/sites", respond.Methods{http.MethodGet: sites})
	v1.Handle("/v1/tra-status", respond.Methods{http.MethodGet: s.traStatus})
	s.router.PathPrefix("/v1/").Handler(s.authenticated(v1))
	if s.options.Page.Enabled {
		s.router.MethodNotAllowedHandler = respond.ProblemHandler(respond.ErrMethodNotAllowed)
		if err := s.registerPages(v1); err != nil {
			return err
		}
	}

	if s.options.MonitoringPassword == "" {
		return nil
	}
	var err error
	if s.ui, err = monitoring.New(monitoring.Options{
		Redis: s.options.AsynqRedis, User: s.options.MonitoringUser, Password: s.options.MonitoringPassword,
		Writable: s.options.MonitoringWritable, Address: s.addressOf, Metrics: s.options.Metrics, Log: s.options.Log,
	}); err != nil {
		return err
	}
	s.ui.Register(s.router)
	return s.registerConsole()
}

// routeJobs adds the endpoints of jobs.
func (s *Server) routeJobs(v1 *mux.Router) {
	const job = "/v1/jobs/{id:[0-9A-Za-z]{1,64}}"
	v1.Handle(job, respond.Methods{http.MethodGet: s.getJob, http.MethodDelete: s.deleteJob})
	v1.Handle("/v1/jobs", respond.Methods{http.MethodGet: s.limits.WithPlace(s.listJobs)})
	v1.Handle(job+"/retry", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.retryJob)})
	v1.Handle(job+"/events", respond.Methods{http.MethodGet: s.jobEvents})
}
