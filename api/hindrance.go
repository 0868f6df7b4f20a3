package api

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
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/tasks"
)

// The values of "waitingFor".
const (
	waitingForAuthority = "authority" // only TRA's calculator can finish the job, and it cannot be asked
	waitingForSite      = "site"      // the site of the listing has asked all workers to pause

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
	pause      time.Duration
}

// hindranceOf returns the hindrance of a job, or of the first of its children that
// has one.
func (s *Server) hindranceOf(ctx context.Context, job *jobs.Job) hindrance {
	outage, _ := s.outages.Lasting(ctx)
	for _, open := range s.withChildren(ctx, job) {
		switch step, _ := currentStep(open); step {
		case tasks.StepCalculate:
			if outage.Reason != "" {
				return hindrance{waitingFor: waitingForAuthority, said: outage.Notice()}
			}
		case tasks.StepScrape:
			pause := s.pauses.of(ctx, listingOfJob(open))
			if paused := tasks.SitePaused(pause, tasks.OfferPage, nil); paused != nil {
				return hindrance{waitingForSite, paused.Notice, pause}
			}
		}
	}
	return hindrance{}
}

// waitsFor returns what a job that can go on waits for, and the sentence about it.
func (s *Server) waitsFor(ctx context.Context, job *jobs.Job) (what string, said message.Notice) {
	what, at := waitingForWorker, ""
	for _, open := range s.withChildren(ctx, job) {
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
func (s *Server) withChildren(ctx context.Context, job *jobs.Job) (open []*jobs.Job) {
	if job.State.Ended() {
		return nil
	}
	open = append(open, job)
	for _, child := range job.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if record, err := s.job(ctx, child.Job); err == nil && !record.State.Ended() {
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

// listingsOf returns the URLs that a job and its open children may fetch.
func (s *Server) listingsOf(ctx context.Context, job *jobs.Job) (listings []string) {
	for _, open := range s.withChildren(ctx, job) {
		if listing := listingOfJob(open); listing != "" {
			listings = append(listings, listing)
		}
	}
	return listings
}

// addTo says in the body of a job what it waits for.
func (h hindrance) addTo(body *jobBody) {
	body.WaitingFor, body.Message, body.Text = h.waitingFor, h.said.Message, h.said.Text
	body.RetryAfter = int(respond.WholeSeconds(h.pause) / time.Second)
}

// problem returns the response to a caller who waits for the job; nil without a
// hindrance.
func (h hindrance) problem() error {
	switch h.waitingFor {
	case waitingForAuthority:
		return errNotFinished.Waiting(waitingForAuthority, h.said)
	case waitingForSite:
		paused := problemOf(tasks.JobError(tasks.SitePaused(h.pause, tasks.OfferPage, nil)))
		paused.WaitingFor = waitingForSite
		return paused
	}
	return nil
}

// isUnfinished reports whether an error means that the job goes on.
func isUnfinished(err error) bool {
	unfinished, ok := errors.AsType[*problem.Problem](err)
	return ok && (unfinished.WaitingFor != "" || errors.Is(unfinished, errNotFinished))
}

// waitUnlessHindered is wait, but ends early, with the reason, when the job waits for
// something that it cannot have now: waiting longer is useless to the caller, and the
// job continues.
func (s *Server) waitUnlessHindered(r *http.Request, id string, timeout time.Duration) (*jobs.Job, error) {
	parent := r.Context()
	release, ok := s.waiters.Acquire(respond.RecorderOf(r).Key.ID, maxWaiters)
	if !ok {
		return nil, errNotFinished
	}
	defer release()
	for end := time.Now().Add(timeout); ; {
		job, err := s.wait(parent, id, min(hindranceInterval, time.Until(end)))
		if !errors.Is(err, errNotFinished) || s.draining.Err() != nil {
			return job, err
		}
		if hindered := s.hindered(parent, id); hindered != nil {
			return nil, hindered
		}
		if !time.Now().Before(end) {
			return nil, errNotFinished
		}
	}
}

// hindered returns the response to a caller of a job that cannot go on; nil when it
// can.
func (s *Server) hindered(parent context.Context, id string) error {
	job, err := s.job(parent, id)
	if err != nil {
		return nil //nolint:nilerr // the wait goes on
	}
	h := s.hindranceOf(parent, job)
	if _, lasts := s.outages.Lasting(parent); h.waitingFor == waitingForAuthority && lasts < outageGrace {
		return nil
	}
	return h.problem()
}

// hindrances returns a word that changes when a job of these listings may have got or
// lost a hindrance.
func (s *Server) hindrances(ctx context.Context, listings []string) string {
	var word strings.Builder
	word.WriteString(s.outages.Now(ctx).Reason)
	for _, listing := range listings {
		paused := tasks.SitePaused(s.pauses.of(ctx, listing), "", nil) != nil
		word.WriteString(" " + strconv.FormatBool(paused))
	}
	return word.String()
}

// batchBody returns a batch as its caller sees it. While TRA's calculator cannot be
// asked it says that rows of vehicles that are not known wait for it.
func (s *Server) batchBody(ctx context.Context, b *batch.Batch) batchBody {
	body := newBatchBody(b)
	if outage := s.outages.Now(ctx); outage.Reason != "" && body.Ended.IsZero() {
		body.WaitingFor = waitingForAuthority
		said := outage.Notice().And("outage/rows", nil)
		body.Message, body.Text = said.Message, said.Text
	}
	return body
}
