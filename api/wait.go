package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
	"ushuru/tasks"
)

// submit gives work to the engine within the limits of the caller's key, with what the
// caller sent for it, if anything, and returns its job: a new one, or the running one of
// the same kind and input.
func (s *Server) submit(w http.ResponseWriter, r *http.Request, kind string, input any, attachment []byte) (*jobs.Job, error) {
	return s.submitAs(w, r, jobs.Interactive, kind, input, attachment)
}

// submitAs is submit for a job of a class.
func (s *Server) submitAs(
	w http.ResponseWriter, r *http.Request, class jobs.Class, kind string, input any, attachment []byte,
) (*jobs.Job, error) {
	if err := s.limits.CheckJobs(w, r); err != nil {
		return nil, err
	}
	dedupKey, err := tasks.DedupKey(kind, input)
	if err != nil {
		return nil, err
	}
	if err := s.limits.Keep(w, r, keptFor(kind, dedupKey, attachment)...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	rec := respond.RecorderOf(r)
	owner := rec.Key.ID
	requester := tasks.Requester{Owner: owner, Class: class, Query: viewOf(rec, kind).Query(), Attachment: attachment}
	job, err := s.options.Tasks.Submit(jobs.WithOrigin(ctx, rec.Origin()), kind, input, requester)
	if err == nil && attachment != nil && (job.Owner != owner || job.State.Ended()) { // that job does not need it
		err = s.limits.Forget(ctx, owner, jobs.AttachmentName(dedupKey))
	}
	if err != nil {
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return job, nil
}

// recordTTL is how long the record of a job is kept at most.
const recordTTL = 25 * time.Hour

// keptFor returns what a job of a kind causes to be kept before it has a result: its
// record, and those of the jobs that it needs; what the caller sent.
func keptFor(kind, dedupKey string, attachment []byte) []quota.Kept {
	records := int64(1)
	if kind == tasks.KindCompare {
		records = 5 // two estimates and two reports
	}
	kept := []quota.Kept{{Size: records * jobs.RecordBytes, TTL: recordTTL}}
	if attachment != nil {
		name := jobs.AttachmentName(dedupKey)
		kept = append(kept, quota.Kept{Name: name, Size: int64(len(attachment)) + quota.EntryOverhead, TTL: jobs.AttachmentTTL})
	}
	return kept
}

// waitForResult returns the result of an outcome. For a job it waits as long
// as the caller prefers. When the job has not ended by then, its URL is the
// response: 202 (respond.ErrResponded) to a caller who accepts that, else 504.
func (s *Server) waitForResult(w http.ResponseWriter, r *http.Request, found outcome) ([]byte, error) {
	respond.RecorderOf(r).ReleasePlace() // the body is not needed while the request waits
	if found.job == nil {
		return found.result, nil
	}
	job := found.job
	respond.RecorderOf(r).Job = job.ID
	err := s.limits.Track(r, job)
	if err != nil {
		return nil, err
	}
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	if !job.State.Ended() {
		job, err = s.waitUnlessHindered(r, job.ID, prefer.waitTimeout())
	}
	if isUnfinished(err) {
		job, err = s.unfinished(w, r, found.job, prefer, err)
	}
	if err != nil {
		return nil, err
	}
	if applied := prefer.applied(false); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	if job.State != jobs.Succeeded {
		return nil, jobProblem(job)
	}
	return job.Result, nil
}

// unfinished responds to a caller whose wait is over before the job is: with 202 to one
// who accepts that (respond.ErrResponded), else with the problem. It returns the job when it has
// ended in between.
func (s *Server) unfinished(
	w http.ResponseWriter, r *http.Request, job *jobs.Job, prefer preference, why error,
) (*jobs.Job, error) {
	now := s.present(r.Context(), job)
	if now.State.Ended() {
		return now, nil
	}
	if prefer.accepts() {
		if err := s.confirm(r.Context()); err != nil {
			return nil, err
		}
		return nil, s.writeAccepted(w, r, now, prefer)
	}
	p, ok := errors.AsType[*problem.Problem](why)
	if !ok {
		p = errNotFinished
	}
	if p.WaitingFor == "" {
		what, said := s.waitsFor(r.Context(), now)
		p = p.Waiting(what, said)
	}
	p = p.At(viewOf(respond.RecorderOf(r), now.Kind).At(jobPath(now.ID)))
	p.Job = now.ID
	return nil, p
}

// present returns a job as it is now; as it was when it cannot be read.
func (s *Server) present(ctx context.Context, job *jobs.Job) *jobs.Job {
	if now, err := s.job(ctx, job.ID); err == nil {
		return now
	}
	return job
}

// confirm makes sure that what a response acknowledges, with 202 or 201, outlives the
// death of a Redis master, when the operator demands that. The work goes on even if it
// does not; the caller is answered 503 and sends the request again.
func (s *Server) confirm(parent context.Context) error {
	if s.options.Confirm == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	if err := s.options.Confirm(ctx); err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	return nil
}

// writeAccepted answers 202: the work continues, and this is its job. It
// returns respond.ErrResponded.
func (s *Server) writeAccepted(w http.ResponseWriter, r *http.Request, job *jobs.Job, prefer preference) error {
	rec := respond.RecorderOf(r)
	view := viewOf(rec, job.Kind)
	w.Header().Set("Preference-Applied", prefer.applied(true))
	w.Header().Set("Location", view.At(jobPath(job.ID)))
	w.Header().Set("Retry-After", respond.Seconds(respond.PollAfter))
	body := newJobBody(job)
	body.link(view)
	s.hindranceOf(r.Context(), job).addTo(&body)
	body.Warnings = respond.IgnoredWarning(rec.Ignored)
	if err := respond.JSON(w, http.StatusAccepted, body); err != nil {
		return err
	}
	return respond.ErrResponded
}

// job reads a job's record.
func (s *Server) job(parent context.Context, id string) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	job, err := s.options.Jobs.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return nil, errJobNotFound
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return job, nil
}

// wait returns a job once it has ended, or errNotFinished after the timeout. A
// caller who disconnects, or a server that shuts down, ends the wait but not
// the job.
func (s *Server) wait(parent context.Context, id string, timeout time.Duration) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)() //nolint:contextcheck // the life of the server ends the wait too
	job, err := s.options.Hub.Wait(ctx, id)
	switch {
	case err == nil:
		return job, nil
	case errors.Is(err, jobs.ErrNotFound):
		return nil, errJobNotFound
	case parent.Err() != nil:
		return nil, respond.ErrClientClosedRequest.WithCause(err)
	case ctx.Err() != nil:
		return nil, errNotFinished
	}
	return nil, respond.ErrUnavailable.WithCause(err)
}
