package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// jobBody is a job as its callers see it.
type jobBody struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	State   jobs.State `json:"state"`
	Step    string     `json:"step,omitempty"`    // current or next, until the job ends
	Attempt int        `json:"attempt,omitempty"` // at that step, retries included
	Created time.Time  `json:"created"`
	Ended   time.Time  `json:"ended,omitzero"`

	WaitingFor string        `json:"waitingFor,omitempty"` // authority, while TRA cannot be asked; site, while the site pauses
	Message    string        `json:"message,omitempty"`    // why, as a sentence
	Text       *message.Text `json:"text,omitempty"`       // Message in both languages
	RetryAfter int           `json:"retryAfter,omitempty"` // seconds for which the site pauses

	Warnings []vehicle.Warning `json:"warnings,omitempty"` // about the request

	Progress tasks.Progress  `json:"progress"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *vehicle.Error  `json:"error,omitempty"`
}

func newJobBody(job *jobs.Job) jobBody {
	body := jobBody{
		ID: job.ID, Kind: job.Kind, State: job.State,
		Created: job.Created, Ended: job.Ended, Progress: tasks.ProgressOf(job), Result: job.Result,
	}
	if job.State == jobs.Failed || job.State == jobs.Cancelled {
		why := jobProblem(job).Body()
		body.Error = &why
	}
	if !job.State.Ended() {
		body.Step, body.Attempt = currentStep(job)
	}
	return body
}

// jobBody returns a job for the caller of a request. The result of a report is
// written in the language of the request, the cost of an estimate is that on the
// terms of its query.
func (s *Server) jobBody(r *http.Request, job *jobs.Job) (jobBody, error) {
	if !tasks.IsFor(job, recorderOf(r).key.ID) {
		return jobBody{}, errJobNotFound
	}
	body := newJobBody(job)
	s.hindranceOf(r.Context(), job).addTo(&body)
	wanted, ignored, err := terms.ParseQuery(r.URL.Query(), time.Now())
	if err != nil {
		return body, err
	}
	switch {
	case job.State != jobs.Succeeded:
		return body, nil
	case job.Kind == tasks.KindEstimate && (!wanted.IsZero() || len(ignored) > 0):
		body.Result, err = s.priced(job.Result, wanted, vehicle.FromListing, ignored)
		return body, err
	case job.Kind == tasks.KindQuote && (!wanted.IsZero() || len(ignored) > 0):
		body.Result, err = s.priced(job.Result, wanted, vehicle.FromRequest, ignored)
		return body, err
	case job.Kind != tasks.KindReport:
		return body, nil
	}
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return body, fmt.Errorf("api: input of job %s: %w", job.ID, err)
	}
	report, err := s.conditionReport(r.Context(), input, recorderOf(r).key.ID, job.Result, recorderOf(r).lang)
	if err != nil {
		return body, err
	}
	body.Result, err = plainjson.Encode(report)
	return body, err
}

// currentStep returns the step that changed last of those that are not done.
func currentStep(job *jobs.Job) (name string, attempt int) {
	var since time.Time
	for step, record := range job.Steps {
		if record.State == jobs.StepDone || record.Since.Before(since) {
			continue
		}
		if record.Since.Equal(since) && step > name && name != "" {
			continue // of steps opened at the same time always the same one
		}
		name, attempt, since = step, record.Attempt+record.Retries, record.Since
	}
	return name, attempt
}

// jobURL returns where a job can be read, in the language and on the terms of the
// request.
func jobURL(job *jobs.Job, rec *responseRecorder) string {
	query := url.Values{}
	if job.Kind == tasks.KindEstimate || job.Kind == tasks.KindQuote { // a comparison is made on its terms
		query = terms.Query(rec.terms)
	}
	if rec.lang == message.Swahili {
		query.Set("lang", rec.lang)
	}
	if len(query) == 0 {
		return "/v1/jobs/" + job.ID
	}
	return "/v1/jobs/" + job.ID + "?" + query.Encode()
}

// getJob answers GET /v1/jobs/{id}. With Prefer: wait=N it waits up to N
// seconds for the end of the job. Any valid key may read the job of a public
// listing by its id: ids cannot be guessed, and callers of one listing share its job.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	if prefer.waits {
		w.Header().Set("Preference-Applied", "wait="+seconds(prefer.wait))
		job, err := s.waitUnlessHindered(r, id, prefer.wait)
		if err == nil {
			return s.writeJob(w, r, job)
		}
		if !isUnfinished(err) {
			return err
		}
	}
	job, err := s.job(r.Context(), id)
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
	return writeJSON(w, http.StatusOK, body)
}

// deleteJob answers DELETE /v1/jobs/{id}: it cancels a job. Callers of one
// listing share its job, so the caller's key must have requested it, and no
// other request may wait for it.
func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	rec := recorderOf(r)
	rec.job = mux.Vars(r)["id"]
	job, err := s.options.Tasks.CancelFor(ctx, rec.job, rec.key.ID)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return errJobNotFound
	case errors.Is(err, tasks.ErrNotRequester):
		return errNotAsked.WithCause(err)
	case errors.Is(err, tasks.ErrStillNeeded):
		return errJobWanted.WithCause(err)
	case err != nil:
		return errUnavailable.WithCause(err)
	case job.State != jobs.Cancelled:
		return errJobEnded
	}
	return writeJSON(w, http.StatusOK, newJobBody(job))
}
