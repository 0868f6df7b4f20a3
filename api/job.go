package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/api/work"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// work.Body returns a job for the caller of a request, in the view of its query: what leads
// to the result has that view too.
func (s *Server) jobBody(r *http.Request, job *jobs.Job) (work.Body, error) {
	rec := respond.RecorderOf(r)
	if !tasks.IsFor(job, rec.Key.ID) {
		return work.Body{}, work.ErrJobNotFound
	}
	body := s.work.Body(r.Context(), job)
	view, ignored, err := terms.ParseView(r.URL.Query(), time.Now())
	if err != nil {
		return body, err
	}
	rec.Terms, rec.Explain = view.Terms, view.Explain
	body.Link(work.ViewOf(rec, job.Kind))
	if job.State != jobs.Succeeded && body.Error == nil {
		return body, nil
	}
	var failed error
	if body.Error != nil {
		failed = body.Error
	}
	body.Result, err = s.jobResult(r, job, failed, ignored)
	if body.Error == nil {
		return body, err
	}
	body.Error, _ = errors.AsType[*problem.Problem](err)
	return body, nil
}

// jobResult returns the result of a job in the view of a request, or its error.
func (s *Server) jobResult(r *http.Request, job *jobs.Job, failed error, ignored []string) (result []byte, err error) {
	rec := respond.RecorderOf(r)
	switch job.Kind {
	case tasks.KindEstimate:
		var input tasks.EstimateInput
		if err := json.Unmarshal(job.Input, &input); err != nil {
			return nil, fmt.Errorf("api: input of job %s: %w", job.ID, err)
		}
		if result, err = job.Result, failed; err == nil {
			result, err = terms.Priced(s.options.Costs, result, rec.Terms, vehicle.FromListing, ignored)
		}
		if rec.Explain {
			return s.explainedOutcome(r.Context(), result, err, input)
		}
		return result, err
	case tasks.KindQuote:
		if failed != nil {
			return nil, failed
		}
		return terms.Priced(s.options.Costs, job.Result, rec.Terms, vehicle.FromRequest, ignored)
	case tasks.KindReport:
		if failed != nil {
			return nil, failed
		}
		return s.jobReport(r, job)
	}
	return job.Result, failed
}

// jobReport returns the report on a sheet that a job has read.
func (s *Server) jobReport(r *http.Request, job *jobs.Job) ([]byte, error) {
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return nil, fmt.Errorf("api: input of job %s: %w", job.ID, err)
	}
	rec := respond.RecorderOf(r)
	report, err := s.conditionReport(r.Context(), input, rec.Key.ID, job.Result, rec.Lang)
	if err != nil {
		return nil, err
	}
	return plainjson.Encode(report)
}

// getJob answers GET /v1/jobs/{id}. With Prefer: wait=N it waits up to N
// seconds for the end of the job. Any valid key may read the job of a public
// listing by its id: ids cannot be guessed, and callers of one listing share its job.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	prefer := work.PreferenceOf(r.Header, s.options.WaitMax)
	if prefer.Waits {
		w.Header().Set("Preference-Applied", "wait="+respond.Seconds(prefer.Wait))
		job, err := s.work.WaitUnlessHindered(r, id, prefer.Wait)
		if err == nil {
			return s.writeJob(w, r, job)
		}
		if !work.IsUnfinished(err) {
			return err
		}
	}
	job, err := s.work.Job(r.Context(), id)
	if err != nil {
		return err
	}
	return s.writeJob(w, r, job)
}

func (s *Server) writeJob(w http.ResponseWriter, r *http.Request, job *jobs.Job) error {
	body, err := s.jobBody(r, job)
	if err != nil {
		return err
	}
	return respond.JSON(w, http.StatusOK, body)
}

// deleteJob answers DELETE /v1/jobs/{id}: it cancels a job. Callers of one
// listing share its job, so the caller's key must have requested it, and no
// other request may wait for it.
func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	rec := respond.RecorderOf(r)
	rec.Job = mux.Vars(r)["id"]
	job, err := s.options.Tasks.CancelFor(ctx, rec.Job, rec.Key.ID)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return work.ErrJobNotFound
	case errors.Is(err, tasks.ErrNotRequester):
		return errNotAsked.WithCause(err)
	case errors.Is(err, tasks.ErrStillNeeded):
		return errJobWanted.WithCause(err)
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case job.State != jobs.Cancelled:
		return errJobEnded
	}
	return respond.JSON(w, http.StatusOK, work.NewBody(job))
}
