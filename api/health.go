package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/drift"
	listingsites "ushuru/pkg/listing/sites"
	"ushuru/pkg/localtime"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
)

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
