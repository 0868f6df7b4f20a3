package await

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/tasks"
)

// maxWaiters is the maximum number of requests of a key that wait for a job at one
// API process. Others are answered at once that it has not ended.
const maxWaiters = 200

// Wait returns a job once it has ended, or as it is when waiting longer is useless.
func (k *Work) Wait(r *request.Request, job *jobs.Job, timeout time.Duration) (*jobs.Job, error) {
	job, _, err := k.wait(r, job, timeout)
	return job, err
}

// wait returns a job once it has ended, or as it is after the timeout, with what it waits for. It
// returns earlier when the job waits for something that it cannot have now: waiting longer is
// useless to the caller, and the job continues. A caller who disconnects, or a server that
// shuts down, ends the wait but not the job.
func (k *Work) wait(r *request.Request, job *jobs.Job, timeout time.Duration) (*jobs.Job, waiting, error) {
	release, ok := k.waiters.Take(pace.Bound{Owner: r.Caller(), Most: maxWaiters})
	if !ok {
		return job, k.waitOf(r.Context(), job), nil
	}
	defer release()
	for end := time.Now().Add(timeout); !job.State.Ended(); {
		ctx, cancel := context.WithTimeout(r.Context(), min(lookInterval, time.Until(end)))
		stop := context.AfterFunc(k.options.Draining, cancel)
		ended, err := k.options.Hub.Wait(ctx, job.ID)
		stop()
		cancel()
		switch {
		case err == nil:
			k.options.Limits.PersonGoesOn()
			return ended, waiting{}, nil
		case errors.Is(err, jobs.ErrNotFound):
			return nil, waiting{}, err
		case r.Context().Err() != nil:
			return nil, waiting{}, request.ErrClientClosedRequest.WithCause(err)
		} // else the interval is over
		if now, err := k.Job(r.Context(), job.ID); err == nil { // else it is as it was
			job = now
		}
		waits := k.waitOf(r.Context(), job)
		if waits.isFelt || k.options.Draining.Err() != nil || !time.Now().Before(end) {
			return job, waits, nil
		}
	}
	return job, waiting{}, nil
}

// writeUnfinished responds to a caller whose wait is over before the job is: with 202 to one who
// accepts that, else with the problem.
func (k *Work) writeUnfinished(w http.ResponseWriter, r *request.Request, job *jobs.Job, waits waiting) error {
	view := ViewOf(r, job.Kind)
	if !r.Prefer.Accepts() {
		p := waits.problem().At(view.At(Path(job.ID)))
		p.Job = job.ID
		return p
	}
	body := NewBody(job)
	waits.addTo(&body)
	body.Link(view)
	body.Warnings = r.Warnings()
	w.Header().Set("Preference-Applied", r.Prefer.Applied(true))
	return k.WriteAccepted(w, r, body)
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
	// lookInterval is how often a wait and a stream look whether the job can end now.
	lookInterval = time.Second
	// outageGrace is how long an outage has lasted when the callers learn of it who
	// were waiting when it began: workers end the jobs of known vehicles first.
	outageGrace = 5 * time.Second
)

// waiting is what a job waits for that has not ended.
type waiting struct {
	what   string           // as in "waitingFor"
	said   message.Notice   // a sentence
	paused *tasks.StepError // of a site that pauses
	pause  time.Duration    // of the site
	isFelt bool             // callers who wait for the job learn of it before their time is over
}

// waitOf returns what a job waits for and cannot have now, or what the first of its children does
// that has such a hindrance; else whether a worker is at its step.
func (k *Work) waitOf(ctx context.Context, job *jobs.Job) waiting {
	outage, lasts := k.options.Outages.Lasting(ctx)
	what, at := waitingForWorker, ""
	for _, open := range k.withChildren(ctx, job) {
		step, _ := currentStep(open)
		if queue := tasks.QueueOfStep(open, step); k.holds.isPaused(ctx, queue) {
			return waiting{what: WaitingForQueue, said: queuePaused(queue)}
		}
		switch step {
		case tasks.StepCalculate:
			if outage.Reason != "" {
				return waiting{what: WaitingForAuthority, said: outage.Notice(), isFelt: lasts >= outageGrace}
			}
		case tasks.StepScrape:
			host := hostOf(listingOfJob(open))
			pace := k.holds.paces(ctx, host)[host]
			if paused := tasks.SitePaused(pace.Pause, tasks.OfferPage, nil); paused != nil {
				return waiting{what: WaitingForSite, said: paused.Notice, paused: paused, pause: pace.Pause, isFelt: true}
			}
			if pace.Delayed && open.Class == jobs.Bulk && open.Steps[step].State == jobs.StepReady {
				return waiting{what: WaitingForSite, said: siteBusy(host, pace)}
			}
		}
		if step != "" && what != waitingForStep {
			at = step
			if open.Steps[step].State == jobs.StepClaimed {
				what = waitingForStep
			}
		}
	}
	if at == "" {
		return waiting{what: what, said: message.New("waiting/begin", nil)}
	}
	return waiting{what: what, said: message.New("waiting/"+what, message.Values{"step": at})}
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

// addTo says in the body of a job what it cannot have now.
func (s waiting) addTo(body *Body) {
	if s.what != waitingForWorker && s.what != waitingForStep {
		body.WaitingFor, body.Message, body.Text = s.what, s.said.Message, s.said.Text
		body.RetryAfter = int(request.WholeSeconds(s.pause) / time.Second)
	}
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
