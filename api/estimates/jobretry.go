package estimates

import (
	"net/http"
	"time"

	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// RetryJob answers POST /v1/jobs/{id}/retry: it submits the input of a failed job again.
// The failed job stays as it is; the response has the new one.
func (s *Resource) RetryJob(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	ignored, err := terms.ReadQuery(r, time.Now())
	if err != nil {
		return err
	}
	if err := r.Ignore(ignored...); err != nil {
		return err
	}
	failed, err := s.retryable(r, r.Var("id"))
	if err != nil {
		return err
	}
	leaveOther(&r.Representation, failed.Kind)
	wanted, err := wantedAgain(failed)
	if err != nil {
		return err
	}
	if failed.Kind == tasks.KindCompare || failed.Kind == tasks.KindReport {
		if err := s.options.Limits.ShowAITokens(w, r); err != nil {
			return err
		}
	}
	found, err := s.options.Work.Outcome(w, r, wanted)
	if err != nil {
		return err
	}
	r.Job = found.Job.ID
	body, err := s.jobBody(r, found.Job)
	if err != nil {
		return err
	}
	if err := s.options.Work.Accept(w, r, body.Location); err != nil {
		return err
	}
	return request.WriteJSON(w, http.StatusAccepted, body)
}

// retryable returns a job that the caller's key has requested and that can be retried.
func (s *Resource) retryable(r *request.Request, id string) (*jobs.Job, error) {
	r.Job = id
	job, err := s.options.Tasks.Job(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if !tasks.IsFor(job, r.Key.ID) {
		return nil, jobs.ErrNotFound
	}
	listed, err := s.options.Jobs.IsListed(r.Context(), r.Key.ID, id)
	switch {
	case err != nil:
		return nil, err
	case !listed:
		return nil, errNotRequested
	case job.State != jobs.Failed && job.State != jobs.Cancelled:
		return nil, errNotFailed
	case job.Attached:
		return nil, errAttachmentNotKept
	}
	return job, nil
}

// wantedAgain returns the work of a job, as the request for it wanted it.
func wantedAgain(failed *jobs.Job) (await.Wanted, error) {
	wanted := await.Wanted{Kind: failed.Kind, Input: failed.Input, Failed: failed.ID}
	if failed.Kind == tasks.KindEstimate {
		input, err := inputOf[tasks.EstimateInput](failed)
		wanted.Input = input
		return wanted, err
	}
	return wanted, nil
}
