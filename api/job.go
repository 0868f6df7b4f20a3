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
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
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

	Progress tasks.Progress   `json:"progress"`
	Result   json.RawMessage  `json:"result,omitempty"`
	Error    *problem.Problem `json:"error,omitempty"`

	Location string `json:"location,omitempty"` // where the job is read, in the view of the request
	Events   string `json:"events,omitempty"`   // where it is followed, in the same
}

func newJobBody(job *jobs.Job) jobBody {
	body := jobBody{
		ID: job.ID, Kind: job.Kind, State: job.State,
		Created: localtime.Of(job.Created), Ended: localtime.Of(job.Ended), Progress: tasks.ProgressOf(job), Result: job.Result,
	}
	if job.State == jobs.Failed || job.State == jobs.Cancelled {
		body.Error = jobProblem(job)
	}
	if !job.State.Ended() {
		body.Step, body.Attempt = currentStep(job)
	}
	return body
}

// viewOf returns how a request reads the result of a job of a kind.
func viewOf(rec *respond.Recorder, kind string) terms.View {
	v := terms.View{Lang: rec.Lang}
	if kind == tasks.KindEstimate || kind == tasks.KindQuote { // a comparison is made on its terms
		v.Terms = rec.Terms
	}
	v.Explain = rec.Explain && kind == tasks.KindEstimate
	return v
}

// jobPath is where a job is read.
func jobPath(id string) string { return "/v1/jobs/" + id }

// link adds where the job is read and followed.
func (b *jobBody) link(view terms.View) {
	b.Location, b.Events = view.At(jobPath(b.ID)), view.At(jobPath(b.ID)+"/events")
}

// jobBody returns a job for the caller of a request, in the view of its query: what leads
// to the result has that view too.
func (s *Server) jobBody(r *http.Request, job *jobs.Job) (jobBody, error) {
	rec := respond.RecorderOf(r)
	if !tasks.IsFor(job, rec.Key.ID) {
		return jobBody{}, errJobNotFound
	}
	body := newJobBody(job)
	s.hindranceOf(r.Context(), job).addTo(&body)
	view, ignored, err := terms.ParseView(r.URL.Query(), time.Now())
	if err != nil {
		return body, err
	}
	rec.Terms, rec.Explain = view.Terms, view.Explain
	body.link(viewOf(rec, job.Kind))
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
			result, err = s.priced(result, rec.Terms, vehicle.FromListing, ignored)
		}
		if rec.Explain {
			return s.explainedOutcome(r.Context(), result, err, input)
		}
		return result, err
	case tasks.KindQuote:
		if failed != nil {
			return nil, failed
		}
		return s.priced(job.Result, rec.Terms, vehicle.FromRequest, ignored)
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

// getJob answers GET /v1/jobs/{id}. With Prefer: wait=N it waits up to N
// seconds for the end of the job. Any valid key may read the job of a public
// listing by its id: ids cannot be guessed, and callers of one listing share its job.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	if prefer.waits {
		w.Header().Set("Preference-Applied", "wait="+respond.Seconds(prefer.wait))
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
		return errJobNotFound
	case errors.Is(err, tasks.ErrNotRequester):
		return errNotAsked.WithCause(err)
	case errors.Is(err, tasks.ErrStillNeeded):
		return errJobWanted.WithCause(err)
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case job.State != jobs.Cancelled:
		return errJobEnded
	}
	return respond.JSON(w, http.StatusOK, newJobBody(job))
}
