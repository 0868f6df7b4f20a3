package await

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
)

// maxWaiters is the maximum number of requests of a key that wait for a job at one
// API process. Others are answered at once that it has not ended.
const maxWaiters = 200

// Wait returns a job once it has ended, or as it is when waiting longer is useless.
func (k *Work) Wait(r *request.Request, job *jobs.Job, timeout time.Duration) (*jobs.Job, error) {
	job, _, err := k.wait(r, job, timeout)
	return job, err
}

// wait returns a job once it has ended, or as it is after the timeout. It returns earlier, with
// the reason, when the job waits for something that it cannot have now: waiting longer is
// useless to the caller, and the job continues. A caller who disconnects, or a server that
// shuts down, ends the wait but not the job.
func (k *Work) wait(r *request.Request, job *jobs.Job, timeout time.Duration) (*jobs.Job, hindrance, error) {
	release, ok := k.waiters.Take(pace.Bound{Owner: r.Caller(), Most: maxWaiters})
	if !ok {
		return job, hindrance{}, nil
	}
	defer release()
	for end := time.Now().Add(timeout); !job.State.Ended(); {
		ctx, cancel := context.WithTimeout(r.Context(), min(hindranceInterval, time.Until(end)))
		stop := context.AfterFunc(k.options.Draining, cancel)
		ended, err := k.options.Hub.Wait(ctx, job.ID)
		stop()
		cancel()
		switch {
		case err == nil:
			return ended, hindrance{}, nil
		case errors.Is(err, jobs.ErrNotFound):
			return nil, hindrance{}, err
		case r.Context().Err() != nil:
			return nil, hindrance{}, request.ErrClientClosedRequest.WithCause(err)
		} // else the interval is over
		if now, err := k.Job(r.Context(), job.ID); err == nil { // else it is as it was
			job = now
		}
		why := k.hindranceOf(r.Context(), job)
		if why.isFelt() || k.options.Draining.Err() != nil || !time.Now().Before(end) {
			return job, why, nil
		}
	}
	return job, hindrance{}, nil
}

// unfinished responds to a caller whose wait is over before the job is: with 202 to one who
// accepts that, else with the problem. Why is what the job waits for and cannot have.
func (k *Work) unfinished(w http.ResponseWriter, r *request.Request, job *jobs.Job, why hindrance, view terms.View) error {
	if r.Prefer.Accepts() {
		return k.accept(w, r, job, view)
	}
	var p *problem.Problem
	switch {
	case why.isFelt():
		p = why.problem()
	case why.waitingFor != "":
		p = errNotFinished.Waiting(why.waitingFor, why.said)
	default:
		p = errNotFinished.Waiting(k.waitsFor(r.Context(), job))
	}
	p = p.At(view.At(Path(job.ID)))
	p.Job = job.ID
	return p
}

// accept answers 202: the work continues, and this is its job.
func (k *Work) accept(w http.ResponseWriter, r *request.Request, job *jobs.Job, view terms.View) error {
	body := k.Body(r.Context(), job)
	body.Link(view)
	body.Warnings = r.Warnings()
	w.Header().Set("Preference-Applied", r.Prefer.Applied(true))
	return k.WriteAccepted(w, r, body)
}

// WriteAccepted answers 202 with a job.
func (k *Work) WriteAccepted(w http.ResponseWriter, r *request.Request, body Body) error {
	if err := k.Confirm(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", body.Location)
	w.Header().Set("Retry-After", request.Seconds(request.PollAfter))
	return request.WriteJSON(w, http.StatusAccepted, body)
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
