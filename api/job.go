package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
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
		why := jobProblem(job).body()
		body.Error = &why
	}
	if !job.State.Ended() {
		body.Step, body.Attempt = currentStep(job)
	}
	return body
}

// jobBody returns a job for the caller of a request. The result of a report is
// written in the language of the query parameter lang.
func (s *Server) jobBody(r *http.Request, job *jobs.Job) (jobBody, error) {
	body := newJobBody(job)
	if job.Kind != tasks.KindReport || job.State != jobs.Succeeded {
		return body, nil
	}
	lang, err := parseLanguage(r.URL.Query().Get("lang"))
	if err != nil {
		return body, err
	}
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return body, fmt.Errorf("api: input of job %s: %w", job.ID, err)
	}
	report, err := s.conditionReport(r.Context(), input, job.Result, lang)
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

// jobURL returns where the job of an outcome can be read, in the language of the
// request.
func jobURL(found outcome) string {
	url := "/v1/jobs/" + found.job.ID
	if found.lang != "" && found.lang != sheet.English {
		url += "?lang=" + found.lang
	}
	return url
}

// getJob answers GET /v1/jobs/{id}. With Prefer: wait=N it waits up to N
// seconds for the end of the job. Any valid key may read a job by its id: ids
// cannot be guessed, and callers of one listing share its job.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	if prefer.waits {
		w.Header().Set("Preference-Applied", "wait="+seconds(prefer.wait))
		job, err := s.wait(r.Context(), id, prefer.wait)
		if err == nil {
			return s.writeJob(w, r, job)
		}
		if !errors.Is(err, errNotFinished) {
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
		return errNotAsked.withCause(err)
	case errors.Is(err, tasks.ErrStillNeeded):
		return errJobWanted.withCause(err)
	case err != nil:
		return errUnavailable.withCause(err)
	case job.State != jobs.Cancelled:
		return errJobEnded
	}
	return writeJSON(w, http.StatusOK, newJobBody(job))
}

// submit gives work to the engine, and returns its job: a new one, or the
// running one of the same kind and input.
func (s *Server) submit(r *http.Request, kind string, input any) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	requester := tasks.Requester{Owner: recorderOf(r).key.ID, Class: jobs.Interactive}
	job, err := s.options.Tasks.Submit(ctx, kind, input, requester)
	if err != nil {
		return nil, errUnavailable.withCause(err)
	}
	return job, nil
}

// waitForResult returns the result of an outcome. For a job it waits as long
// as the caller prefers. When the job has not ended by then, its URL is the
// response: 202 (errResponded) to a caller who accepts that, else 504.
func (s *Server) waitForResult(w http.ResponseWriter, r *http.Request, found outcome) ([]byte, error) {
	if found.job == nil {
		return found.result, nil
	}
	recorderOf(r).job = found.job.ID
	if err := s.trackJob(r, found.job); err != nil {
		return nil, err
	}
	ended, err := found.job, error(nil)
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	if !ended.State.Ended() {
		ended, err = s.wait(r.Context(), found.job.ID, prefer.waitTimeout())
	}
	switch {
	case errors.Is(err, errNotFinished) && prefer.accepts():
		return nil, writeAccepted(w, found, prefer)
	case errors.Is(err, errNotFinished):
		return nil, errNotFinished.withLocation(jobURL(found))
	case err != nil:
		return nil, err
	}
	if applied := prefer.applied(false); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	if ended.State != jobs.Succeeded {
		return nil, jobProblem(ended)
	}
	return ended.Result, nil
}

// writeAccepted answers 202: the work continues, and this is its job. It
// returns errResponded.
func writeAccepted(w http.ResponseWriter, found outcome, prefer preference) error {
	w.Header().Set("Preference-Applied", prefer.applied(true))
	w.Header().Set("Location", jobURL(found))
	w.Header().Set("Retry-After", seconds(pollAfter))
	if err := writeJSON(w, http.StatusAccepted, newJobBody(found.job)); err != nil {
		return err
	}
	return errResponded
}

// job reads a job's record.
func (s *Server) job(parent context.Context, id string) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	job, err := s.options.Jobs.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return nil, errJobNotFound
	case err != nil:
		return nil, errUnavailable.withCause(err)
	}
	return job, nil
}

// wait returns a job once it has ended, or errNotFinished after the timeout. A
// caller who disconnects, or a server that shuts down, ends the wait but not
// the job.
func (s *Server) wait(parent context.Context, id string, timeout time.Duration) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)() //nolint:contextcheck // the life of the server ends the wait too
	job, err := s.options.Hub.Wait(ctx, id)
	switch {
	case err == nil:
		return job, nil
	case errors.Is(err, jobs.ErrNotFound):
		return nil, errJobNotFound
	case parent.Err() != nil:
		return nil, errClientClosedRequest.withCause(err)
	case ctx.Err() != nil:
		return nil, errNotFinished
	}
	return nil, errUnavailable.withCause(err)
}
