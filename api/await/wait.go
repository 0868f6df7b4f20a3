package await

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/pkg/jobs"
)

// WaitForResult returns the result of an outcome. For a job it waits as long
// as the caller prefers. When the job has not ended by then, its URL is the
// response: 202 (respond.ErrResponded) to a caller who accepts that, else 504.
func (k *Work) WaitForResult(w http.ResponseWriter, r *http.Request, found Outcome) ([]byte, error) {
	respond.RecorderOf(r).ReleasePlace() // the body is not needed while the request waits
	if found.Job == nil {
		return found.Result, nil
	}
	job := found.Job
	respond.RecorderOf(r).Job = job.ID
	err := k.options.Limits.Track(r, job)
	if err != nil {
		return nil, err
	}
	prefer := PreferenceOf(r.Header, k.options.WaitMax)
	if !job.State.Ended() {
		job, err = k.WaitUnlessHindered(r, job.ID, prefer.waitTimeout())
	}
	if IsUnfinished(err) {
		job, err = k.unfinished(w, r, found.Job, prefer, err)
	}
	if err != nil {
		return nil, err
	}
	if applied := prefer.applied(false); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	if job.State != jobs.Succeeded {
		return nil, ProblemOf(job)
	}
	return job.Result, nil
}

// unfinished responds to a caller whose wait is over before the job is: with 202 to one
// who accepts that (respond.ErrResponded), else with the problem. It returns the job when it has
// ended in between.
func (k *Work) unfinished(
	w http.ResponseWriter, r *http.Request, job *jobs.Job, prefer Preference, why error,
) (*jobs.Job, error) {
	now := k.present(r.Context(), job)
	if now.State.Ended() {
		return now, nil
	}
	if prefer.accepts() {
		if err := k.Confirm(r.Context()); err != nil {
			return nil, err
		}
		return nil, k.writeAccepted(w, r, now, prefer)
	}
	p, ok := errors.AsType[*problem.Problem](why)
	if !ok {
		p = errNotFinished
	}
	if p.WaitingFor == "" {
		what, said := k.waitsFor(r.Context(), now)
		p = p.Waiting(what, said)
	}
	p = p.At(ViewOf(respond.RecorderOf(r), now.Kind).At(Path(now.ID)))
	p.Job = now.ID
	return nil, p
}

// present returns a job as it is now; as it was when it cannot be read.
func (k *Work) present(ctx context.Context, job *jobs.Job) *jobs.Job {
	if now, err := k.Job(ctx, job.ID); err == nil {
		return now
	}
	return job
}

// writeAccepted answers 202: the work continues, and this is its job. It
// returns respond.ErrResponded.
func (k *Work) writeAccepted(w http.ResponseWriter, r *http.Request, job *jobs.Job, prefer Preference) error {
	rec := respond.RecorderOf(r)
	view := ViewOf(rec, job.Kind)
	w.Header().Set("Preference-Applied", prefer.applied(true))
	w.Header().Set("Location", view.At(Path(job.ID)))
	w.Header().Set("Retry-After", respond.Seconds(respond.PollAfter))
	body := k.Body(r.Context(), job)
	body.Link(view)
	body.Warnings = respond.IgnoredWarning(rec.Ignored)
	if err := respond.JSON(w, http.StatusAccepted, body); err != nil {
		return err
	}
	return respond.ErrResponded
}

// Job reads a job's record.
func (k *Work) Job(parent context.Context, id string) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	job, err := k.options.Jobs.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return nil, ErrJobNotFound
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return job, nil
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
		return nil, respond.ErrClientClosedRequest.WithCause(err)
	case ctx.Err() != nil:
		return nil, errNotFinished
	}
	return nil, respond.ErrUnavailable.WithCause(err)
}
