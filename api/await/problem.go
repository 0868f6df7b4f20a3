package await

import (
	"encoding/json"
	"net/http"

	"ushuru/api/problem"
	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// ProblemOf returns the response of a job without a result.
func ProblemOf(job *jobs.Job) *problem.Problem {
	if job.Error == nil {
		return errCancelled
	}
	p := ErrorProblem(job.Error)
	switch {
	case p.Code == "listing_incomplete" && job.Kind == tasks.KindQuote:
		p.Status, p.Code = http.StatusBadRequest, "request_incomplete"
	case p.Status == http.StatusUnprocessableEntity && job.Kind == tasks.KindCompare:
		p.Status = http.StatusInternalServerError // by the contract, whose mistake it is does not matter
	}
	return p
}

// ErrorProblem returns the response of the error of a job.
func ErrorProblem(why *jobs.Error) *problem.Problem {
	p := problem.OfJob(why.Notice, why.Permanent)
	// The shape of the details depends on the code. What was found of a car that
	// was not matched and the end of a pause are for the caller; older jobs have only
	// candidates.
	var refusal tasks.Refusal
	var paused tasks.PauseDetails
	if json.Unmarshal(why.Details, &refusal) == nil {
		p.Car, p.Candidates = refusal.Car, refusal.Candidates
		_ = json.Unmarshal(why.Details, &paused)
		p.RetryAt = paused.RetryAt
	} else {
		_ = json.Unmarshal(why.Details, &p.Candidates)
	}
	return p
}
