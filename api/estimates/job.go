package estimates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errAttachmentNotKept = problem.Conflict("attachment_not_kept")
	errNotFailed         = problem.Conflict("job_not_failed")
	errStateUnknown      = problem.BadRequest("state_unknown.job").Of("state")
	errNotRequested      = problem.New(http.StatusForbidden, "not_asked.retry", nil)
	errEnded             = problem.Conflict("job_ended")
)

// fieldsOf are the members of the result of a job of a kind.
var fieldsOf = map[string]terms.FieldSets{
	tasks.KindEstimate: terms.OfEstimate, tasks.KindQuote: terms.OfEstimate, tasks.KindCompare: terms.OfComparison,
	tasks.KindReport: terms.OfReport,
}

// jobBody returns a job for the caller of a request, in the view of its query: what leads
// to the result has that view too.
func (s *Resource) jobBody(r *request.Request, job *jobs.Job) (await.Body, error) {
	if !tasks.IsFor(job, r.Key.ID) {
		return await.Body{}, jobs.ErrNotFound
	}
	body := s.options.Work.Body(r.Context(), job)
	var err error
	if r.Ignored, err = terms.ReadQuery(r, time.Now()); err != nil {
		return body, err
	}
	if r.Fields, err = terms.ReadFields(r, fieldsOf[job.Kind]); err != nil {
		return body, err
	}
	leaveOther(&r.Representation, job.Kind)
	body.Link(r.Representation)
	switch {
	case job.State == jobs.Succeeded:
		body.Result, err = s.jobResult(r, job)
		body.Result = r.Fields.Of(body.Result, r.View)
	case body.Error != nil && job.Kind == tasks.KindEstimate:
		var input tasks.EstimateInput
		if input, err = inputOf[tasks.EstimateInput](job); err == nil {
			body.Error, _ = errors.AsType[*problem.Problem](s.explained(r, body.Error, input))
		}
	}
	return body, err
}

// inputOf returns the input of a job.
func inputOf[I any](job *jobs.Job) (input I, err error) {
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return input, fmt.Errorf("jobs: input of job %s: %w", job.ID, err)
	}
	return input, nil
}

// leaveOther leaves out of the representation of a result what one of its kind of job does not have.
func leaveOther(v *request.Representation, kind string) {
	v.Explain = v.Explain && kind == tasks.KindEstimate
	if kind != tasks.KindEstimate && kind != tasks.KindQuote { // a comparison is made on its terms
		v.Terms = vehicle.Terms{}
	}
}

// jobResult returns the result of a job that has succeeded, as a request wants it.
func (s *Resource) jobResult(r *request.Request, job *jobs.Job) ([]byte, error) {
	switch job.Kind {
	case tasks.KindEstimate:
		input, err := inputOf[tasks.EstimateInput](job)
		if err != nil {
			return nil, err
		}
		return s.finish(r, job.Result, input)
	case tasks.KindQuote:
		return s.priced(r, job.Result, vehicle.FromRequest)
	case tasks.KindReport:
		input, err := inputOf[tasks.ReportInput](job)
		if err != nil {
			return nil, err
		}
		return s.finishReport(r, input, job.Result, false, nil)
	}
	return job.Result, nil
}

// GetJob answers GET /v1/jobs/{id}. With Prefer: wait=N it waits up to N
// seconds for the end of the job. Any valid key may read the job of a public
// listing by its id: ids cannot be guessed, and callers of one listing share its job.
func (s *Resource) GetJob(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	job, err := s.options.Tasks.Job(r.Context(), r.Var("id"))
	if err == nil && r.Prefer.Waits {
		w.Header().Set("Preference-Applied", "wait="+request.Seconds(r.Prefer.Wait))
		job, err = s.options.Work.Wait(r, job, r.Prefer.Wait)
	}
	if err != nil {
		return err
	}
	body, err := s.jobBody(r, job)
	if err != nil {
		return err
	}
	return request.WriteJSON(w, http.StatusOK, body)
}

// CancelJob answers DELETE /v1/jobs/{id}: it cancels a job. Callers of one
// listing share its job, so the caller's key must have requested it, and no
// other request may wait for it.
func (s *Resource) CancelJob(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	r.Job = r.Var("id")
	job, err := s.options.Tasks.CancelFor(r.Context(), r.Job, r.Key.ID)
	switch {
	case err != nil:
		return err
	case job.State != jobs.Cancelled:
		return errEnded
	}
	return request.WriteJSON(w, http.StatusOK, await.NewBody(job))
}

// JobEvents answers GET /v1/jobs/{id}/events: an event whenever the job's state
// or progress changes, and a last one with its result or error.
func (s *Resource) JobEvents(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	id := r.Var("id")
	r.Job = id
	changed, unsubscribe := s.options.Hub.Watch(id)
	defer unsubscribe()
	var sites []string
	source := await.Source{Changed: changed, Load: func(ctx context.Context) (await.Event, error) {
		job, err := s.options.Tasks.Job(ctx, id)
		if err != nil {
			return await.Event{}, err
		}
		sites = s.options.Work.SitesOf(ctx, job)
		r.Request = r.WithContext(ctx)
		body, err := s.jobBody(r, job) //nolint:contextcheck // the request has the context
		if err != nil {
			return await.Event{}, err
		}
		fingerprint := body
		if body.WaitingFor == await.WaitingForSite { // the time left changes with every event
			fingerprint.Message, fingerprint.RetryAfter = "", 0
		}
		return await.NewEvent(r.View, body, fingerprint, job.State.Ended())
	}}
	source.Blockers = func(ctx context.Context) string { return s.options.Work.Blockers(ctx, sites) }
	return s.options.Streams.Send(w, r, source)
}

// listedJob is a job in the list of the key that has requested it: what it is about, and
// how it ended. Its result is at Location.
type listedJob struct {
	ID       string           `json:"id"`
	Kind     string           `json:"kind"`
	State    jobs.State       `json:"state"`
	Created  time.Time        `json:"created"`
	Ended    time.Time        `json:"ended,omitzero"`
	URLs     []string         `json:"urls,omitempty"` // of the listings or the sheet
	Car      json.RawMessage  `json:"car,omitempty"`  // that the caller described
	Error    *problem.Problem `json:"error,omitempty"`
	Location string           `json:"location"` // on the terms of the key's last request for it

	Metadata json.RawMessage `json:"metadata,omitempty"` // of that request
}

// states are the values of the parameter state.
var states = []jobs.State{"", jobs.Queued, jobs.Running, jobs.Succeeded, jobs.Failed, jobs.Cancelled}

// ListJobs answers GET /v1/jobs: the jobs that the caller's key has requested, newest
// first.
func (s *Resource) ListJobs(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	query, owner := r.URL.Query(), r.Key.ID
	limit, err := request.PageSize(query)
	if err != nil {
		return err
	}
	state := jobs.State(query.Get("state"))
	if !slices.Contains(states, state) {
		return errStateUnknown
	}
	found, more, err := s.options.Jobs.List(r.Context(), owner, query.Get("cursor"), limit, state)
	if err != nil {
		return err
	}
	body := struct {
		Jobs []listedJob `json:"jobs"`
		Next string      `json:"next,omitempty"`
	}{Jobs: make([]listedJob, 0, len(found))}
	for _, job := range found {
		if tasks.IsFor(job, owner) {
			body.Jobs = append(body.Jobs, newListedJob(job))
		}
	}
	if more {
		body.Next = request.SetNext(w, r.URL, found[len(found)-1].ID)
	}
	return request.WriteJSON(w, http.StatusOK, body)
}

func newListedJob(job *jobs.Job) listedJob {
	listed := listedJob{
		ID: job.ID, Kind: job.Kind, State: job.State, Created: localtime.Of(job.Created), Ended: localtime.Of(job.Ended),
		URLs: tasks.URLsOf(job), Location: await.Path(job.ID),
	}
	if job.Query != "" {
		listed.Location += "?" + job.Query
		query, _ := url.ParseQuery(job.Query) // it was written by us
		listed.Metadata = json.RawMessage(query.Get("metadata"))
	}
	if job.Kind == tasks.KindQuote {
		listed.Car = job.Input
	}
	if job.State == jobs.Failed || job.State == jobs.Cancelled {
		why := *await.ProblemOf(job)
		why.Candidates, why.Car, why.Cars = nil, nil, nil // which are many bytes, and at Location
		listed.Error = &why
	}
	return listed
}

// RetryJob answers POST /v1/jobs/{id}/retry: it submits the input of a failed job again.
// The failed job stays as it is; the response has the new one.
func (s *Resource) RetryJob(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	ignored, err := terms.ReadQuery(r, time.Now())
	if err != nil {
		return err
	}
	if err := r.Ignore(ignored...); err != nil {
		return err
	}
	failed, err := s.retryable(r, r.Var("id"))
	if err != nil {
		return err
	}
	leaveOther(&r.Representation, failed.Kind)
	wanted, err := wantedAgain(failed)
	if err != nil {
		return err
	}
	if failed.Kind == tasks.KindCompare || failed.Kind == tasks.KindReport {
		if err := s.options.Limits.ShowAITokens(w, r); err != nil {
			return err
		}
	}
	found, err := s.options.Work.Outcome(w, r, wanted)
	if err != nil {
		return err
	}
	r.Job = found.Job.ID
	body, err := s.jobBody(r, found.Job)
	if err != nil {
		return err
	}
	if err := s.options.Work.Accept(w, r, body.Location); err != nil {
		return err
	}
	return request.WriteJSON(w, http.StatusAccepted, body)
}

// retryable returns a job that the caller's key has requested and that can be retried.
func (s *Resource) retryable(r *request.Request, id string) (*jobs.Job, error) {
	r.Job = id
	job, err := s.options.Tasks.Job(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if !tasks.IsFor(job, r.Key.ID) {
		return nil, jobs.ErrNotFound
	}
	listed, err := s.options.Jobs.IsListed(r.Context(), r.Key.ID, id)
	switch {
	case err != nil:
		return nil, err
	case !listed:
		return nil, errNotRequested
	case job.State != jobs.Failed && job.State != jobs.Cancelled:
		return nil, errNotFailed
	case job.Attached:
		return nil, errAttachmentNotKept
	}
	return job, nil
}

// wantedAgain returns the work of a job, as the request for it wanted it.
func wantedAgain(failed *jobs.Job) (await.Wanted, error) {
	wanted := await.Wanted{Kind: failed.Kind, Input: failed.Input, Failed: failed.ID}
	if failed.Kind == tasks.KindEstimate {
		input, err := inputOf[tasks.EstimateInput](failed)
		wanted.Input = input
		return wanted, err
	}
	return wanted, nil
}
