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
var openAPIDoc []byte

// openAPIDocTag is the ETag of openAPIDoc.
var openAPIDocTag = func() string {
	sum := sha256.Sum256(openAPIDoc)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}()

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

// traStatus answers GET /v1/tra-status from what the workers recorded in Redis.
// It never calls TRA.
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

// openapi answers GET /openapi.yaml.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", openAPIDocTag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(openAPIDoc))
	return nil
}
