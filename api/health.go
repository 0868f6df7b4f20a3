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

// readyProbe is written by /readyz. A Redis that answers can still refuse writes: it
// is a replica, it has no memory, its disk is full.
const readyProbe, readyProbeTTL = "ready:probe", time.Minute

// readyz answers GET /readyz: requests can be served, because Redis accepts a write
// in time and the server is not shutting down.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.unready.Load() {
		return errUnavailable.WithCause(errors.New("the server is shutting down"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.options.Redis.Set(ctx, readyProbe, "", readyProbeTTL).Err(); err != nil {
		return errUnavailable.WithCause(err)
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
