package api

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// healthz answers GET /healthz: the process is up.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz answers GET /readyz: requests can be served, because Redis answers in
// time and the server is not shutting down.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.draining.Err() != nil {
		return errUnavailable.withCause(errors.New("the server is shutting down"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.options.Redis.Ping(ctx).Err(); err != nil {
		return errUnavailable.withCause(err)
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
