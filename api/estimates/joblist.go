package estimates

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/tasks"
)

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
