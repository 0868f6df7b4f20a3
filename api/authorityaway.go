package api

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// waitingForAuthority is the "waitingFor" of a job that only TRA's calculator can
// finish.
const waitingForAuthority = "authority"

// awayCheckInterval is how often a wait looks whether the job can end now.
const awayCheckInterval = time.Second

// setWaitingFor says in the body of a job that it waits for TRA's calculator, which
// cannot be asked now.
func (s *Server) setWaitingFor(ctx context.Context, body *jobBody) {
	if body.Step != tasks.StepCalculate || body.State.Ended() {
		return
	}
	if outage := s.outages.Now(ctx); outage.Reason != "" {
		body.WaitingFor, body.Message = waitingForAuthority, outage.Message
	}
}

// waitUnlessAway is wait, but ends early with errNotFinished and the reason when the
// job waits for TRA's calculator and that cannot be asked now: waiting longer is
// useless to the caller, and the job continues.
func (s *Server) waitUnlessAway(parent context.Context, id string, timeout time.Duration) (*jobs.Job, error) {
	for end := time.Now().Add(timeout); ; {
		job, err := s.wait(parent, id, min(awayCheckInterval, time.Until(end)))
		if !errors.Is(err, errNotFinished) || s.draining.Err() != nil {
			return job, err
		}
		if away := s.awayFor(parent, id); away != nil {
			return nil, away
		}
		if !time.Now().Before(end) {
			return nil, errNotFinished
		}
	}
}

// awayFor returns the response to a caller of a job that waits for TRA's calculator
// while that cannot be asked; nil otherwise.
func (s *Server) awayFor(parent context.Context, id string) error {
	outage := s.outages.Now(parent)
	if outage.Reason == "" {
		return nil
	}
	job, err := s.job(parent, id)
	if err != nil || job.State.Ended() {
		return nil //nolint:nilerr // the wait goes on
	}
	if step, _ := currentStep(job); step != tasks.StepCalculate {
		return nil
	}
	return errNotFinished.waitingForAuthority(outage.Message)
}
