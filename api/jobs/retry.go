package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// retry answers POST /v1/jobs/{id}/retry: it submits the input of a failed job again.
// The failed job stays as it is; the response has the new one.
func (s *Resource) retry(w http.ResponseWriter, r *http.Request) error {
	rec := respond.RecorderOf(r)
	view, ignored, err := terms.ParseView(r.URL.Query(), time.Now())
	if err != nil {
		return err
	}
	if err := rec.Ignore(r, ignored...); err != nil {
		return err
	}
	rec.Terms, rec.Explain = view.Terms, view.Explain
	failed, err := s.retryable(r, mux.Vars(r)["id"])
	if err != nil {
		return err
	}
	found, err := s.options.Work.Replay(r, nil)
	if err != nil {
		return err
	}
	if found.IsEmpty() {
		submit := respond.Handler(func(w http.ResponseWriter, r *http.Request) (err error) {
			found.Job, err = s.resubmit(w, r, failed)
			return err
		})
		if failed.Kind == tasks.KindCompare || failed.Kind == tasks.KindReport {
			submit = s.options.Limits.WithAITokens(submit)
		}
		if err := submit(w, r); err != nil {
			return err
		}
	}
	if found.Job.ID == failed.ID { // its refusal is remembered
		return await.ProblemOf(found.Job)
	}
	if found, err = s.options.Work.SetOutcome(w, r, failed.Kind, failed.Input, found); err != nil {
		return err
	}
	rec.Job = found.Job.ID
	if err := s.options.Limits.Track(r, found.Job); err != nil {
		return err
	}
	if err := s.options.Work.Confirm(r.Context()); err != nil {
		return err
	}
	body, err := s.body(r, found.Job)
	if err != nil {
		return err
	}
	w.Header().Set("Location", body.Location)
	w.Header().Set("Retry-After", respond.Seconds(respond.PollAfter))
	return respond.JSON(w, http.StatusAccepted, body)
}

// retryable returns a job that the caller's key has requested and that can be retried.
func (s *Resource) retryable(r *http.Request, id string) (*jobs.Job, error) {
	respond.RecorderOf(r).Job = id
	job, err := s.options.Work.Job(r.Context(), id)
	if err != nil {
		return nil, err
	}
	owner := respond.RecorderOf(r).Key.ID
	if !tasks.IsFor(job, owner) {
		return nil, await.ErrJobNotFound
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	listed, err := s.options.Jobs.IsListed(ctx, owner, id)
	switch {
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	case !listed:
		return nil, errNotRequested
	case job.State != jobs.Failed && job.State != jobs.Cancelled:
		return nil, errNotFailed
	case job.Attached:
		return nil, errAttachmentNotKept
	}
	return job, nil
}

// resubmit submits the input of a job again, as the request for it did.
func (s *Resource) resubmit(w http.ResponseWriter, r *http.Request, failed *jobs.Job) (*jobs.Job, error) {
	if failed.Kind != tasks.KindEstimate {
		return s.options.Work.Submit(w, r, failed.Kind, failed.Input, nil)
	}
	var input tasks.EstimateInput
	if err := json.Unmarshal(failed.Input, &input); err != nil {
		return nil, fmt.Errorf("jobs: input of job %s: %w", failed.ID, err)
	}
	return s.options.Estimates.Submit(w, r, input, nil)
}
