package await

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errCancelled   = problem.Conflict("cancelled")
	errNotFinished = problem.New(http.StatusGatewayTimeout, "not_finished", nil).After(request.PollAfter)
)

// Body is a job as its callers see it.
type Body struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	State   jobs.State `json:"state"`
	Step    string     `json:"step,omitempty"`    // current or next, until the job ends
	Attempt int        `json:"attempt,omitempty"` // at that step, retries included
	Created time.Time  `json:"created"`
	Ended   time.Time  `json:"ended,omitzero"`

	StepSince time.Time    `json:"stepSince,omitzero"` // since when it is at that step
	Car       *vehicle.Car `json:"car,omitempty"`      // as its page was read, until the job ends

	WaitingFor string        `json:"waitingFor,omitempty"` // authority, while TRA cannot be asked; site, while the site pauses
	Message    string        `json:"message,omitempty"`    // why, as a sentence
	Text       *message.Text `json:"text,omitempty"`       // Message in both languages
	RetryAfter int           `json:"retryAfter,omitempty"` // seconds for which the site pauses

	Warnings []vehicle.Warning `json:"warnings,omitempty"` // about the request

	Metadata map[string]string `json:"metadata,omitempty"` // of the request

	Progress tasks.Progress   `json:"progress"`
	Result   json.RawMessage  `json:"result,omitempty"`
	Error    *problem.Problem `json:"error,omitempty"`

	Location string `json:"location,omitempty"` // where the job is read, in the view of the request
	Events   string `json:"events,omitempty"`   // where it is followed, in the same

	Object string `json:"object"` // job
}

// NewBody returns a job without what it waits for.
func NewBody(job *jobs.Job) Body {
	body := Body{Object: "job", ID: job.ID, Kind: job.Kind, State: job.State, Result: job.Result}
	switch {
	case !job.State.Ended():
		body.Car = carRead(job)
	case job.State != jobs.Succeeded:
		body.Error = ProblemOf(job)
	}
	step := tasks.CurrentStep(job)
	body.Step, body.Attempt, body.Progress = step.Name, step.Attempt+step.Retries, tasks.ProgressOf(job)
	body.Created, body.Ended, body.StepSince = localtime.Of(job.Created), localtime.Of(job.Ended), localtime.Of(step.Since)
	return body
}

// carRead returns the car of a listing that a job has read; nil before, and for other kinds.
func carRead(job *jobs.Job) *vehicle.Car {
	output, read := job.Outputs[tasks.StepScrape]
	var scraped tasks.Scraped
	if !read || json.Unmarshal(output, &scraped) != nil {
		return nil
	}
	return &scraped.Car
}

// Body returns a job with what it waits for.
func (k *Work) Body(ctx context.Context, job *jobs.Job) Body {
	body := NewBody(job)
	body.waitFor(k.waitOf(ctx, job))
	return body
}

// waitFor says what the job cannot have now.
func (b *Body) waitFor(waits waiting) {
	if waits.what != waitingForWorker && waits.what != waitingForStep {
		b.WaitingFor, b.Message, b.Text = waits.what, waits.said.Message, waits.said.Text
		b.RetryAfter = int(request.WholeSeconds(waits.pause) / time.Second)
	}
}

// Path is where a job is read.
func Path(id string) string { return "/v1/jobs/" + id }

// Link adds where the job is read and followed, and what the request said of it.
func (b *Body) Link(view request.Representation) {
	b.Metadata = view.Tags.Metadata
	b.Location, b.Events = view.At(Path(b.ID)), view.At(Path(b.ID)+"/events")
}

// ProblemOf returns the response of a job without a result.
func ProblemOf(job *jobs.Job) *problem.Problem {
	if job.Error == nil {
		return errCancelled
	}
	p := ErrorProblem(job.Error)
	switch {
	case p.Code == "listing_incomplete" && job.Kind == tasks.KindQuote:
		p.Status, p.Code = http.StatusBadRequest, "request_incomplete"
	case p.Status == http.StatusUnprocessableEntity && job.Kind == tasks.KindCompare:
		p.Status = http.StatusInternalServerError // by the contract, whose mistake it is does not matter
	}
	return p
}

// ErrorProblem returns the response of the error of a job.
func ErrorProblem(why *jobs.Error) *problem.Problem {
	p := problem.OfJob(why.Notice, why.Permanent)
	// The shape of the details depends on the code. What was found of a car that
	// was not matched and the end of a pause are for the caller; older jobs have only
	// candidates.
	var refusal tasks.Refusal
	var paused tasks.PauseDetails
	if json.Unmarshal(why.Details, &refusal) == nil {
		p.Car, p.Candidates, p.Cars = refusal.Car, refusal.Candidates, refusal.Cars
		_ = json.Unmarshal(why.Details, &paused)
		p.RetryAt = paused.RetryAt
	} else {
		_ = json.Unmarshal(why.Details, &p.Candidates)
	}
	return p
}

// writeUnfinished responds to a caller whose wait is over before the job has ended: with 202 when
// the caller prefers that, else with the problem.
func (k *Work) writeUnfinished(w http.ResponseWriter, r *request.Request, job *jobs.Job, waits waiting) error {
	if !r.Prefer.Accepts() {
		p := waits.problem().At(r.At(Path(job.ID)))
		p.Job = job.ID
		return p
	}
	w.Header().Set("Preference-Applied", r.Prefer.Applied(true))
	if err := k.Accept(w, r, r.At(Path(job.ID))); err != nil {
		return err
	}
	body := NewBody(job)
	body.waitFor(waits)
	body.Link(r.Representation)
	body.Warnings = r.Warnings()
	return request.WriteJSON(w, http.StatusAccepted, body)
}

// problem returns the response to a caller who waits for the job.
func (s waiting) problem() *problem.Problem {
	if s.paused == nil {
		return errNotFinished.Waiting(s.what, s.said)
	}
	p := ErrorProblem(tasks.JobError(s.paused))
	p.WaitingFor = WaitingForSite
	return p
}

// Accept makes sure of a job that an answer 202 names, and sets the headers of that: where the job
// is read, and when.
func (k *Work) Accept(w http.ResponseWriter, r *request.Request, location string) error {
	if err := k.Confirm(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", location)
	w.Header().Set("Retry-After", request.Seconds(request.PollAfter))
	return nil
}

// Confirm makes sure that what a response acknowledges, with 202 or 201, outlives the
// death of a Redis master, when the operator demands that. The work goes on even if it
// does not; the caller is answered 503 and sends the request again.
func (k *Work) Confirm(ctx context.Context) error {
	if k.options.Confirm == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, request.RedisTimeout)
	defer cancel()
	if err := k.options.Confirm(ctx); err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	return nil
}
