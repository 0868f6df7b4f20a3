package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// deleteJob answers DELETE /v1/jobs/{id}: it cancels a job for good. Callers
// of one listing share its job, so only one that asked for it may, and only
// when nobody else waits for it.
func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	id := mux.Vars(r)["id"]
	recorderOf(r).job = id
	job, err := s.options.Tasks.CancelFor(ctx, id, recorderOf(r).key.ID)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return errJobNotFound
	case errors.Is(err, tasks.ErrNotRequester):
		return errNotAsked.withCause(err)
	case errors.Is(err, tasks.ErrStillNeeded):
		return errJobWanted.withCause(err)
	case err != nil:
		return errUnavailable.withCause(err)
	case job.State != jobs.Cancelled:
		return errJobEnded
	}
	return writeJSON(w, http.StatusOK, bodyOf(job))
}
