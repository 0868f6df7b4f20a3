package await

import (
	"context"
	"errors"
	"time"

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
	if job.State.Ended() {
		return job, waiting{}, nil
	}
	release, ok := k.waiters.Take(pace.Bound{Owner: r.Caller(), Most: maxWaiters})
	if !ok {
		timeout, release = 0, func() {}
	}
	defer release()
	ended, leave := k.options.Hub.Ended(job.ID)
	defer leave()
	end, look := time.NewTimer(timeout), time.NewTicker(lookInterval)
	defer end.Stop()
	defer look.Stop()
	site := siteOf(job)
	// The record is read again; what the caller sent needs no memory until then.
	job = &jobs.Job{ID: job.ID, Kind: job.Kind, Class: job.Class, State: job.State, Created: job.Created, Steps: job.Steps}
	for isLook, isOver := false, timeout <= 0; ; {
		if !isLook || k.mayBeHeldUp(r.Context(), job.Kind, site) {
			now, err := k.options.Tasks.Job(r.Context(), job.ID)
			switch {
			case errors.Is(err, jobs.ErrNotFound):
				return nil, waiting{}, err
			case err != nil:
				now = job
			case now.State.Ended():
				k.options.Limits.PersonGoesOn()
				return now, waiting{}, nil
			}
			if isLook || isOver {
				if waits := k.waitOf(r.Context(), now); waits.isFelt || isOver {
					return now, waits, nil
				}
			}
		}
		isLook = false
		select {
		case <-r.Context().Done():
			return nil, waiting{}, request.ErrClientClosedRequest.WithCause(r.Context().Err())
		case <-ended:
		case <-look.C:
			isLook = true
		case <-end.C:
			isOver = true
		case <-k.options.Draining.Done():
			isOver = true
		}
	}
}

// mayBeHeldUp reports whether a job of a kind, which fetches a page of a site, may wait for something
// that it cannot have now: whether its record must be read to know. That of a comparison must be.
func (k *Work) mayBeHeldUp(ctx context.Context, kind, site string) bool {
	if _, lasts := k.options.Outages.Lasting(ctx); lasts >= outageGrace || kind == tasks.KindCompare {
		return true
	}
	return site != "" && k.holds.paces(ctx, site)[site].Pause > 0
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
	open := k.openSteps(ctx, job)
	outage, lasts := k.options.Outages.Lasting(ctx)
	what, at := waitingForWorker, ""
	for _, o := range open {
		if queue := tasks.QueueOfStep(o.job, o.step); k.holds.isPaused(ctx, queue) {
			return waiting{what: WaitingForQueue, said: queuePaused(queue)}
		}
		if o.step == tasks.StepCalculate && outage.Reason != "" {
			return waiting{what: WaitingForAuthority, said: outage.Notice(), isFelt: lasts >= outageGrace}
		}
		if o.step == tasks.StepScrape {
			if held := k.holds.ofPage(ctx, o); held.what != "" {
				return held
			}
		}
		if o.step != "" && what != waitingForStep {
			at = o.step
			if o.job.Steps[at].State == jobs.StepClaimed {
				what = waitingForStep
			}
		}
	}
	if at == "" {
		return waiting{what: what, said: message.New("waiting/begin", nil)}
	}
	return waiting{what: what, said: message.New("waiting/"+what, message.Values{"step": at})}
}

// openStep is a job that has not ended, and its step; "" when none is open.
type openStep struct {
	job  *jobs.Job
	step string
}

// openSteps returns a job that has not ended and its open children, with their steps; nothing of
// one that has.
func (k *Work) openSteps(ctx context.Context, job *jobs.Job) (open []openStep) {
	if job.State.Ended() {
		return nil
	}
	step, _ := currentStep(job)
	open = append(open, openStep{job, step})
	for _, child := range job.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if record, err := k.options.Tasks.Job(ctx, child.Job); err == nil && !record.State.Ended() {
			step, _ := currentStep(record)
			open = append(open, openStep{record, step})
		}
	}
	return open
}

// currentStep returns the step that changed last of those that are not done; "" for none, and of a
// job that has ended.
func currentStep(job *jobs.Job) (name string, attempt int) {
	if job.State.Ended() {
		return "", 0
	}
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

// SitesOf returns the sites whose pages a job and its open children may fetch.
func (k *Work) SitesOf(ctx context.Context, job *jobs.Job) (sites []string) {
	for _, open := range k.openSteps(ctx, job) {
		if site := siteOf(open.job); site != "" {
			sites = append(sites, site)
		}
	}
	return sites
}
