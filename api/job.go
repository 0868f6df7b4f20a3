package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/jobs"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// jobBody is a job as its callers see it.
type jobBody struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	State   jobs.State `json:"state"`
	Step    string     `json:"step,omitempty"`    // at work or next, while there is one
	Attempt int        `json:"attempt,omitempty"` // at that step
	Created time.Time  `json:"created"`
	Ended   time.Time  `json:"ended,omitzero"`

	Progress tasks.Progress  `json:"progress"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *vehicle.Error  `json:"error,omitempty"`
}

func bodyOf(job *jobs.Job) jobBody {
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

// currentStep returns the step that moved last of those not done.
func currentStep(job *jobs.Job) (name string, attempt int) {
	var since time.Time
	for step, record := range job.Steps {
		if record.State == jobs.StepDone || record.Since.Before(since) {
			continue
		}
		if record.Since.Equal(since) && step > name && name != "" {
			continue // steps opened at once: always the same one
		}
		name, attempt, since = step, record.Attempt, record.Since
	}
	return name, attempt
}

func locationOf(job *jobs.Job) string { return "/v1/jobs/" + job.ID }

// getJob answers GET /v1/jobs/{id}; with Prefer: wait=N it waits that long
// for the end of the job. Any good key may read a job whose id it knows: ids
// cannot be guessed, and callers of one listing share its job.
func (s *Server) getJob(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	if prefer.waits {
		w.Header().Set("Preference-Applied", "wait="+seconds(prefer.wait))
		job, err := s.wait(r.Context(), id, prefer.wait)
		if err == nil {
			return writeJSON(w, http.StatusOK, bodyOf(job))
		}
		if !errors.Is(err, errNotFinished) {
			return err
		}
	}
	job, err := s.job(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, bodyOf(job))
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

// wait returns a job once it has ended, or errNotFinished. A caller that goes
// away, or a server that shuts down, ends the wait, never the job.
func (s *Server) wait(parent context.Context, id string, patience time.Duration) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, patience)
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
