package await

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/tasks"
)

// The values of "waitingFor".
const (
	WaitingForAuthority = "authority" // only TRA's calculator can finish the job, and it cannot be asked
	WaitingForSite      = "site"      // the site of the listing has asked all workers to pause

	// Of a wait that is over, when the job can go on.
	waitingForWorker = "worker" // its step, or that of a job that it needs, has not begun
	waitingForStep   = "step"   // a worker is at its step
)

const (
	// HindranceInterval is how often a wait and a stream look whether the job can end
	// now.
	HindranceInterval = time.Second
	// outageGrace is how long an outage has lasted when the callers learn of it who
	// were waiting when it began: workers end the jobs of known vehicles first.
	outageGrace = 5 * time.Second
)

// hindrance is what a job waits for and cannot have now. The zero value is none.
type hindrance struct {
	waitingFor string
	said       message.Notice // a sentence
	pause      time.Duration
}

// hindranceOf returns the hindrance of a job, or of the first of its children that
// has one.
func (k *Work) hindranceOf(ctx context.Context, job *jobs.Job) hindrance {
	outage, _ := k.options.Outages.Lasting(ctx)
	for _, open := range k.withChildren(ctx, job) {
		switch step, _ := currentStep(open); step {
		case tasks.StepCalculate:
			if outage.Reason != "" {
				return hindrance{waitingFor: WaitingForAuthority, said: outage.Notice()}
			}
		case tasks.StepScrape:
			pause := k.pauses.of(ctx, listingOfJob(open))
			if paused := tasks.SitePaused(pause, tasks.OfferPage, nil); paused != nil {
				return hindrance{WaitingForSite, paused.Notice, pause}
			}
		}
	}
	return hindrance{}
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
	body.RetryAfter = int(respond.WholeSeconds(h.pause) / time.Second)
}

// problem returns the response to a caller who waits for the job; nil without a
// hindrance.
func (h hindrance) problem() error {
	switch h.waitingFor {
	case WaitingForAuthority:
		return errNotFinished.Waiting(WaitingForAuthority, h.said)
	case WaitingForSite:
		paused := ErrorProblem(tasks.JobError(tasks.SitePaused(h.pause, tasks.OfferPage, nil)))
		paused.WaitingFor = WaitingForSite
		return paused
	}
	return nil
}

// IsUnfinished reports whether an error means that the job goes on.
func IsUnfinished(err error) bool {
	unfinished, ok := errors.AsType[*problem.Problem](err)
	return ok && (unfinished.WaitingFor != "" || errors.Is(unfinished, errNotFinished))
}

// WaitUnlessHindered is wait, but ends early, with the reason, when the job waits for
// something that it cannot have now: waiting longer is useless to the caller, and the
// job continues.
func (k *Work) WaitUnlessHindered(r *http.Request, id string, timeout time.Duration) (*jobs.Job, error) {
	parent := r.Context()
	release, ok := k.waiters.Acquire(respond.RecorderOf(r).Key.ID, maxWaiters)
	if !ok {
		return nil, errNotFinished
	}
	defer release()
	for end := time.Now().Add(timeout); ; {
		job, err := k.Wait(parent, id, min(HindranceInterval, time.Until(end)))
		if !errors.Is(err, errNotFinished) || k.options.Draining.Err() != nil {
			return job, err
		}
		if hindered := k.hindered(parent, id); hindered != nil {
			return nil, hindered
		}
		if !time.Now().Before(end) {
			return nil, errNotFinished
		}
	}
}

// hindered returns the response to a caller of a job that cannot go on; nil when it
// can.
func (k *Work) hindered(parent context.Context, id string) error {
	job, err := k.Job(parent, id)
	if err != nil {
		return nil //nolint:nilerr // the wait goes on
	}
	h := k.hindranceOf(parent, job)
	if _, lasts := k.options.Outages.Lasting(parent); h.waitingFor == WaitingForAuthority && lasts < outageGrace {
		return nil
	}
	return h.problem()
}

// Hindrances returns a word that changes when a job of these listings may have got or
// lost a hindrance.
func (k *Work) Hindrances(ctx context.Context, listings []string) string {
	var word strings.Builder
	word.WriteString(k.options.Outages.Now(ctx).Reason)
	for _, listing := range listings {
		paused := tasks.SitePaused(k.pauses.of(ctx, listing), "", nil) != nil
		word.WriteString(" " + strconv.FormatBool(paused))
	}
	return word.String()
}
