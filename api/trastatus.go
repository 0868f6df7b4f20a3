package api

import (
	"context"
	"net/http"
	"time"

	"ushuru/pkg/drift"
	"ushuru/pkg/localtime"
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
	return writeJSON(w, http.StatusOK, struct {
		tra.Status
		Details drift.State `json:"details"`
	}{status, rules})
}
