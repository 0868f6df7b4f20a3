package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"ushuru/pkg/drift"
	"ushuru/pkg/tra"
)

//go:embed openapi.yaml
var description []byte

// openAPIDocTag changes with the description.
var openAPIDocTag = func() string {
	sum := sha256.Sum256(description)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}()

// healthz answers as long as the process does.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz answers whether requests can be served: Redis answers in time and
// the server is not about to stop.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.draining.Err() != nil {
		return errUnavailable.withCause(errors.New("the server is stopping"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.options.Redis.Ping(ctx).Err(); err != nil {
		return errUnavailable.withCause(err)
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// traStatus answers from what the workers' probes left in Redis; nothing here
// ever calls the authority.
func (s *Server) traStatus(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	status, err := s.options.TRA.Status(ctx)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	rules, err := s.options.Drift.State(ctx)
	if err != nil {
		return errUnavailable.withCause(err)
	}
	return writeJSON(w, http.StatusOK, struct {
		tra.Status
		Details drift.State `json:"details"`
	}{status, rules})
}

// openapi serves the description of the API.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", openAPIDocTag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(description))
	return nil
}
