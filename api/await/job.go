package await

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/fetch"
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
	body := Body{
		Object: "job", ID: job.ID, Kind: job.Kind, State: job.State,
		Created: localtime.Of(job.Created), Ended: localtime.Of(job.Ended), Progress: tasks.ProgressOf(job), Result: job.Result,
	}
	if job.State == jobs.Failed || job.State == jobs.Cancelled {
		body.Error = ProblemOf(job)
	}
	if !job.State.Ended() {
		body.Step, body.Attempt = currentStep(job)
		body.StepSince = localtime.Of(job.Steps[body.Step].Since)
		body.Car = carRead(job)
	}
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
	k.hindranceOf(ctx, job).addTo(&body)
	return body
}

// Path is where a job is read.
func Path(id string) string { return "/v1/jobs/" + id }

// Link adds where the job is read and followed, and what the request said of it.
func (b *Body) Link(view terms.View) {
	b.Metadata = view.Tags.Metadata
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

// The values of "waitingFor".
const (
	WaitingForAuthority = "authority" // only TRA's calculator can finish the job, and it cannot be asked
	WaitingForSite      = "site"      // the site of the listing pauses, or its pages are requested at its pace
	WaitingForQueue     = tasks.QueuePaused

	// Of a wait that is over, when the job can go on.
	waitingForWorker = "worker" // its step, or that of a job that it needs, has not begun
	waitingForStep   = "step"   // a worker is at its step
)

const (
	// hindranceInterval is how often a wait and a stream look whether the job can end
	// now.
	hindranceInterval = time.Second
	// outageGrace is how long an outage has lasted when the callers learn of it who
	// were waiting when it began: workers end the jobs of known vehicles first.
	outageGrace = 5 * time.Second
)

// hindrance is what a job waits for and cannot have now. The zero value is none.
type hindrance struct {
	waitingFor string
	said       message.Notice // a sentence
	pause      time.Duration  // of the site
	lasts      time.Duration  // for which the authority cannot be asked
}

// hindranceOf returns the hindrance of a job, or of the first of its children that
// has one.
func (k *Work) hindranceOf(ctx context.Context, job *jobs.Job) hindrance {
	outage, lasts := k.options.Outages.Lasting(ctx)
	for _, open := range k.withChildren(ctx, job) {
		step, _ := currentStep(open)
		if queue := tasks.QueueOfStep(open, step); k.holds.isPaused(ctx, queue) {
			return queuePaused(queue)
		}
		switch step {
		case tasks.StepCalculate:
			if outage.Reason != "" {
				return hindrance{waitingFor: WaitingForAuthority, said: outage.Notice(), lasts: lasts}
			}
		case tasks.StepScrape:
			host := hostOf(listingOfJob(open))
			pace := k.holds.paces(ctx, host)[host]
			if paused := tasks.SitePaused(pace.Pause, tasks.OfferPage, nil); paused != nil {
				return hindrance{waitingFor: WaitingForSite, said: paused.Notice, pause: pace.Pause}
			}
			if pace.Delayed && open.Class == jobs.Bulk && open.Steps[step].State == jobs.StepReady {
				return hindrance{waitingFor: WaitingForSite, said: siteBusy(host, pace)}
			}
		}
	}
	return hindrance{}
}

// queuePaused is the hindrance of work in a queue that an operator has paused.
func queuePaused(queue string) hindrance {
	return hindrance{waitingFor: WaitingForQueue, said: message.New("waiting/queue_paused", message.Values{"queue": queue})}
}

// siteBusy says at which pace the pages are requested of a site for which others wait.
func siteBusy(host string, pace fetch.Pace) message.Notice {
	if pace.PerSecond == 0 {
		return message.New("waiting/site", message.Values{"site": host})
	}
	return message.New("waiting/site.pace", message.Values{"site": host, "pace": perSecond(pace)})
}

// siteRows says how many rows wait for the pages of a site, and at which pace those are requested.
func siteRows(host string, pace fetch.Pace, rows int) message.Notice {
	return message.New("waiting/site.rows", message.Values{
		"site": host, "pace": perSecond(pace), "rows": strconv.Itoa(rows),
	})
}

func perSecond(pace fetch.Pace) string {
	return strconv.FormatFloat(math.Round(100*pace.PerSecond)/100, 'f', -1, 64)
}

// waitsFor returns what a job that can go on waits for, and the sentence about it.
func (k *Work) waitsFor(ctx context.Context, job *jobs.Job) (what string, said message.Notice) {
	what, at := waitingForWorker, ""
	for _, open := range k.withChildren(ctx, job) {
		step, _ := currentStep(open)
		if step == "" {
			continue
		}
		at = step
		if open.Steps[step].State == jobs.StepClaimed {
			what = waitingForStep
			break
		}
	}
	if at == "" {
		return what, message.New("waiting/begin", nil)
	}
	return what, message.New("waiting/"+what, message.Values{"step": at})
}

// withChildren returns a job that has not ended and its open children; nothing of one
// that has.
func (k *Work) withChildren(ctx context.Context, job *jobs.Job) (open []*jobs.Job) {
	if job.State.Ended() {
		return nil
	}
	open = append(open, job)
	for _, child := range job.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if record, err := k.Job(ctx, child.Job); err == nil && !record.State.Ended() {
			open = append(open, record)
		}
	}
	return open
}

// listingOfJob returns the URL that an estimate fetches; "" when the caller sent the
// page, and for other kinds of jobs.
func listingOfJob(job *jobs.Job) string {
	var input tasks.EstimateInput
	if job.Kind != tasks.KindEstimate || json.Unmarshal(job.Input, &input) != nil || input.Page != "" {
		return ""
	}
	return input.URL
}

// ListingsOf returns the URLs that a job and its open children may fetch.
func (k *Work) ListingsOf(ctx context.Context, job *jobs.Job) (listings []string) {
	for _, open := range k.withChildren(ctx, job) {
		if listing := listingOfJob(open); listing != "" {
			listings = append(listings, listing)
		}
	}
	return listings
}

// addTo says in the body of a job what it waits for.
func (h hindrance) addTo(body *Body) {
	body.WaitingFor, body.Message, body.Text = h.waitingFor, h.said.Message, h.said.Text
	body.RetryAfter = int(request.WholeSeconds(h.pause) / time.Second)
}

// isFelt reports whether callers who wait for the job learn of the hindrance.
func (h hindrance) isFelt() bool {
	return h.pause > 0 || h.waitingFor == WaitingForAuthority && h.lasts >= outageGrace
}

// problem returns the response to a caller who waits for the job.
func (h hindrance) problem() *problem.Problem {
	if h.waitingFor == WaitingForAuthority {
		return errNotFinished.Waiting(WaitingForAuthority, h.said)
	}
	paused := ErrorProblem(tasks.JobError(tasks.SitePaused(h.pause, tasks.OfferPage, nil)))
	paused.WaitingFor = WaitingForSite
	return paused
}

// Hindrances returns a word that changes when a job of these listings may have got or
// lost a hindrance.
func (k *Work) Hindrances(ctx context.Context, listings []string) string {
	var word strings.Builder
	word.WriteString(k.options.Outages.Now(ctx).Reason)
	for _, listing := range listings {
		host := hostOf(listing)
		pace := k.holds.paces(ctx, host)[host]
		paused := tasks.SitePaused(pace.Pause, "", nil) != nil
		_, _ = fmt.Fprint(&word, " ", paused, pace.Delayed)
	}
	return word.String()
}
