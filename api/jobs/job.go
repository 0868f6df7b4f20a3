// Package jobs answers the requests for jobs: their state, their result in the view of the
// request, their events, their end and another try.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/estimates"
	"ushuru/api/events"
	"ushuru/api/idempotencykey"
	"ushuru/api/limits"
	"ushuru/api/problem"
	"ushuru/api/reports"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Options are the parts and settings of a Resource.
type Options struct {
	Tasks     *tasks.Engine
	Jobs      *jobs.Store
	Hub       *jobs.Hub // its Run must be running
	Costs     *cost.Tables
	Limits    *limits.Limits
	Work      *await.Work
	Events    *events.Streams
	Estimates *estimates.Resource
	Reports   *reports.Resource
	// WaitMax is the longest time that a request waits for the end of a job.
	WaitMax time.Duration
}

// Resource answers the requests for jobs.
type Resource struct{ options Options }

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options} }

// Register adds the endpoints to a router.
func (s *Resource) Register(v1 *mux.Router) {
	const one = "/v1/jobs/{id:[0-9A-Za-z]{1,64}}"
	v1.Handle(one, respond.Methods{http.MethodGet: s.get, http.MethodDelete: s.remove})
	v1.Handle("/v1/jobs", respond.Methods{http.MethodGet: s.options.Limits.WithPlace(s.list)})
	v1.Handle(one+"/retry", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.retry)})
	v1.Handle(one+"/events", respond.Methods{http.MethodGet: s.events})
}

// body returns a job for the caller of a request, in the view of its query: what leads
// to the result has that view too.
func (s *Resource) body(r *http.Request, job *jobs.Job) (await.Body, error) {
	rec := respond.RecorderOf(r)
	if !tasks.IsFor(job, rec.Key.ID) {
		return await.Body{}, await.ErrJobNotFound
	}
	body := s.options.Work.Body(r.Context(), job)
	view, ignored, err := terms.ParseView(r.URL.Query(), time.Now())
	if err != nil {
		return body, err
	}
	rec.Terms, rec.Explain = view.Terms, view.Explain
	body.Link(await.ViewOf(rec, job.Kind))
	if job.State != jobs.Succeeded && body.Error == nil {
		return body, nil
	}
	var failed error
	if body.Error != nil {
		failed = body.Error
	}
	body.Result, err = s.result(r, job, failed, ignored)
	if body.Error == nil {
		return body, err
	}
	body.Error, _ = errors.AsType[*problem.Problem](err)
	return body, nil
}

// result returns the result of a job in the view of a request, or its error.
func (s *Resource) result(r *http.Request, job *jobs.Job, failed error, ignored []string) (result []byte, err error) {
	rec := respond.RecorderOf(r)
	switch job.Kind {
	case tasks.KindEstimate:
		var input tasks.EstimateInput
		if err := json.Unmarshal(job.Input, &input); err != nil {
			return nil, fmt.Errorf("jobs: input of job %s: %w", job.ID, err)
		}
		if result, err = job.Result, failed; err == nil {
			result, err = terms.Priced(s.options.Costs, result, rec.Terms, vehicle.FromListing, ignored)
		}
		if rec.Explain {
			return s.options.Estimates.Explained(r.Context(), result, err, input)
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
		return s.report(r, job)
	}
	return job.Result, failed
}

// report returns the report on a sheet that a job has read.
func (s *Resource) report(r *http.Request, job *jobs.Job) ([]byte, error) {
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return nil, fmt.Errorf("jobs: input of job %s: %w", job.ID, err)
	}
	rec := respond.RecorderOf(r)
	report, err := s.options.Reports.Report(r.Context(), input, rec.Key.ID, job.Result, rec.Lang)
	if err != nil {
		return nil, err
	}
	return plainjson.Encode(report)
}

// get answers GET /v1/jobs/{id}. With Prefer: wait=N it waits up to N
// seconds for the end of the job. Any valid key may read the job of a public
// listing by its id: ids cannot be guessed, and callers of one listing share its job.
func (s *Resource) get(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	prefer := await.PreferenceOf(r.Header, s.options.WaitMax)
	if prefer.Waits {
		w.Header().Set("Preference-Applied", "wait="+respond.Seconds(prefer.Wait))
		job, err := s.options.Work.WaitUnlessHindered(r, id, prefer.Wait)
		if err == nil {
			return s.write(w, r, job)
		}
		if !await.IsUnfinished(err) {
			return err
		}
	}
	job, err := s.options.Work.Job(r.Context(), id)
	if err != nil {
		return err
	}
	return s.write(w, r, job)
}

func (s *Resource) write(w http.ResponseWriter, r *http.Request, job *jobs.Job) error {
	body, err := s.body(r, job)
	if err != nil {
		return err
	}
	return respond.JSON(w, http.StatusOK, body)
}

// remove answers DELETE /v1/jobs/{id}: it cancels a job. Callers of one
// listing share its job, so the caller's key must have requested it, and no
// other request may wait for it.
func (s *Resource) remove(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	rec := respond.RecorderOf(r)
	rec.Job = mux.Vars(r)["id"]
	job, err := s.options.Tasks.CancelFor(ctx, rec.Job, rec.Key.ID)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return await.ErrJobNotFound
	case errors.Is(err, tasks.ErrNotRequester):
		return errNotAsked.WithCause(err)
	case errors.Is(err, tasks.ErrStillNeeded):
		return errWanted.WithCause(err)
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case job.State != jobs.Cancelled:
		return errEnded
	}
	return respond.JSON(w, http.StatusOK, await.NewBody(job))
}
