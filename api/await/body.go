package await

import (
	"context"
	"encoding/json"
	"time"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
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

// NewBody returns a job without what it waits for.
func NewBody(job *jobs.Job) Body {
	body := Body{
		ID: job.ID, Kind: job.Kind, State: job.State,
		Created: localtime.Of(job.Created), Ended: localtime.Of(job.Ended), Progress: tasks.ProgressOf(job), Result: job.Result,
	}
	if job.State == jobs.Failed || job.State == jobs.Cancelled {
		body.Error = ProblemOf(job)
	}
	if !job.State.Ended() {
		body.Step, body.Attempt = currentStep(job)
	}
	return body
}

// ViewOf returns how a request reads the result of a job of a kind.
func ViewOf(rec *respond.Recorder, kind string) terms.View {
	v := terms.View{Lang: rec.Lang}
	if kind == tasks.KindEstimate || kind == tasks.KindQuote { // a comparison is made on its terms
		v.Terms = rec.Terms
	}
	v.Explain = rec.Explain && kind == tasks.KindEstimate
	return v
}

// Body returns a job with what it waits for.
func (k *Work) Body(ctx context.Context, job *jobs.Job) Body {
	body := NewBody(job)
	k.hindranceOf(ctx, job).addTo(&body)
	return body
}

// Path is where a job is read.
func Path(id string) string { return "/v1/jobs/" + id }

// Link adds where the job is read and followed.
func (b *Body) Link(view terms.View) {
	b.Location, b.Events = view.At(Path(b.ID)), view.At(Path(b.ID)+"/events")
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
