package api

import (
	"context"
	"net/http"

	"ushuru/pkg/drift"
	"ushuru/pkg/tra"
)

// traStatus answers GET /v1/tra-status from what the workers recorded in Redis.
// It never calls TRA.
func (s *Server) traStatus(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	status, err := s.options.TRA.Status(ctx)
	if err != nil {
		return errUnavailable.WithCause(err)
	}
	rules, err := s.options.Drift.State(ctx)
	if err != nil {
		return errUnavailable.WithCause(err)
	}
	return writeJSON(w, http.StatusOK, struct {
		tra.Status
		Details drift.State `json:"details"`
	}{status, rules})
}
