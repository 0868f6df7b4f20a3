package await

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/tasks"
)

// maxWaiters is the maximum number of requests of a key that wait for a job at one
// API process. Others are answered at once that it has not ended.
const maxWaiters = 200

// result returns the result of an outcome. For a job it waits as long
// as the caller prefers. When the job has not ended by then, its URL is the
// response: 202 (request.ErrResponded) to a caller who accepts that, else 504.
func (k *Work) result(w http.ResponseWriter, r *request.Request, found Outcome) ([]byte, error) {
	r.Place.Leave() // the body is not needed while the request waits
	if found.Job == nil {
		return found.Result, nil
	}
	job := found.Job
	r.Job = job.ID
	var err error
	if !job.State.Ended() {
		job, err = k.WaitUnlessHindered(r, job.ID, r.Prefer.Timeout())
	}
	if IsUnfinished(err) {
		job, err = k.unfinished(w, r, found, err)
	}
	if err != nil {
		return nil, err
	}
	if applied := r.Prefer.Applied(false); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	if job.State != jobs.Succeeded {
		return nil, ProblemOf(job)
	}
	return job.Result, nil
}

// WaitUnlessHindered returns a job once it has ended, or errNotFinished after the timeout.
// It ends early, with the reason, when the job waits for something that it cannot have
// now: waiting longer is useless to the caller, and the job continues.
func (k *Work) WaitUnlessHindered(r *request.Request, id string, timeout time.Duration) (*jobs.Job, error) {
	release, ok := k.waiters.Take(pace.Bound{Owner: r.Caller(), Most: maxWaiters})
	if !ok {
		return nil, errNotFinished
	}
	defer release()
	for end := time.Now().Add(timeout); ; {
		job, err := k.Wait(r.Context(), id, min(hindranceInterval, time.Until(end)))
		if !errors.Is(err, errNotFinished) || k.options.Draining.Err() != nil {
			return job, err
		}
		if hindered := k.hindered(r.Context(), id); hindered != nil {
			return nil, hindered
		}
		if !time.Now().Before(end) {
			return nil, errNotFinished
		}
	}
}

// Wait returns a job once it has ended, or errNotFinished after the timeout. A
// caller who disconnects, or a server that shuts down, ends the wait but not
// the job.
func (k *Work) Wait(parent context.Context, id string, timeout time.Duration) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	defer context.AfterFunc(k.options.Draining, cancel)() //nolint:contextcheck // the life of the server ends the wait too
	job, err := k.options.Hub.Wait(ctx, id)
	switch {
	case err == nil:
		return job, nil
	case errors.Is(err, jobs.ErrNotFound):
		return nil, ErrJobNotFound
	case parent.Err() != nil:
		return nil, request.ErrClientClosedRequest.WithCause(err)
	case ctx.Err() != nil:
		return nil, errNotFinished
	}
	return nil, request.ErrUnavailable.WithCause(err)
}

// unfinished responds to a caller whose wait is over before the job is: with 202 to one
// who accepts that (request.ErrResponded), else with the problem. It returns the job when it has
// ended in between.
func (k *Work) unfinished(w http.ResponseWriter, r *request.Request, found Outcome, why error) (*jobs.Job, error) {
	job := found.Job
	if now, err := k.Job(r.Context(), job.ID); err == nil { // else it is as it was
		job = now
	}
	switch {
	case job.State.Ended():
		return job, nil
	case r.Prefer.Accepts():
		return nil, k.accept(w, r, job, found.view)
	}
	p, ok := errors.AsType[*problem.Problem](why)
	if !ok {
		p = errNotFinished
	}
	if p.WaitingFor == "" {
		p = p.Waiting(k.waitsFor(r.Context(), job))
	}
	p = p.At(found.view.At(Path(job.ID)))
	p.Job = job.ID
	return nil, p
}

// accept answers 202: the work continues, and this is its job. It returns
// request.ErrResponded.
func (k *Work) accept(w http.ResponseWriter, r *request.Request, job *jobs.Job, view terms.View) error {
	if err := k.Confirm(r.Context()); err != nil {
		return err
	}
	body := k.Body(r.Context(), job)
	body.Link(view)
	body.Warnings = r.Warnings()
	w.Header().Set("Preference-Applied", r.Prefer.Applied(true))
	w.Header().Set("Location", body.Location)
	w.Header().Set("Retry-After", request.Seconds(request.PollAfter))
	if err := request.WriteJSON(w, http.StatusAccepted, body); err != nil {
		return err
	}
	return request.ErrResponded
}

// Confirm makes sure that what a response acknowledges, with 202 or 201, outlives the
// death of a Redis master, when the operator demands that. The work goes on even if it
// does not; the caller is answered 503 and sends the request again.
func (k *Work) Confirm(parent context.Context) error {
	if k.options.Confirm == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	if err := k.options.Confirm(ctx); err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	return nil
}

// IsUnfinished reports whether an error means that the job goes on.
func IsUnfinished(err error) bool {
	unfinished, ok := errors.AsType[*problem.Problem](err)
	return ok && (unfinished.WaitingFor != "" || errors.Is(unfinished, errNotFinished))
}

// checkPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error.
func (k *Work) checkPause(parent context.Context, listing string) error {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	pause, err := fetch.PauseOf(ctx, k.options.Redis, listing)
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	if paused := tasks.SitePaused(pause, tasks.OfferPage, nil); paused != nil {
		return ErrorProblem(tasks.JobError(paused))
	}
	return nil
}

// maxPauses bounds the sites in memory.
const maxPauses = 256

// pauses knows which sites pause, for many callers of one process: it reads the pause
// of a site at most once a second.
type pauses struct {
	redis redis.UniversalClient

	mu    sync.Mutex
	sites map[string]pause
}

// pause is until when a site pauses, as it was read at a time.
type pause struct{ read, until time.Time }

// of returns how long the site of a listing still pauses; 0 when it does not, or when
// Redis does not answer.
func (p *pauses) of(parent context.Context, listing string) time.Duration {
	parsed, err := url.Parse(listing)
	if listing == "" || err != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.sites[parsed.Host]
	if time.Since(known.read) >= hindranceInterval {
		ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
		defer cancel()
		left, err := fetch.PauseOf(ctx, p.redis, listing)
		if err != nil {
			return 0
		}
		if p.sites == nil || len(p.sites) >= maxPauses {
			p.sites = map[string]pause{}
		}
		now := time.Now()
		known = pause{now, now.Add(left)}
		p.sites[parsed.Host] = known
	}
	return max(time.Until(known.until), 0)
}
