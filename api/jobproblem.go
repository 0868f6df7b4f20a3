package api

import (
	"encoding/json"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/jobs"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/scan"
	"ushuru/tasks"
)

// jobStatus has the HTTP status of the codes of failed jobs that are not 500:
// what the caller can correct, although only the job found it, and what the
// server lacks.
var jobStatus = map[string]int{
	"url_invalid": http.StatusBadRequest, "url_forbidden": http.StatusBadRequest, "url_unsupported": http.StatusBadRequest,

	scan.HostUnsupported: http.StatusBadRequest, scan.TypeUnsupported: http.StatusBadRequest,
	scan.Damaged: http.StatusBadRequest, scan.Encrypted: http.StatusBadRequest, scan.TooManyPages: http.StatusBadRequest,
	scan.TooManyPixels: http.StatusBadRequest, scan.TooSmall: http.StatusBadRequest, scan.Blank: http.StatusBadRequest,
	sheet.NotASheet: http.StatusBadRequest, sheet.SheetUnreadable: http.StatusBadRequest, "upload_expired": http.StatusBadRequest,
	scan.TooLarge: http.StatusRequestEntityTooLarge,

	"no_ai": http.StatusServiceUnavailable, "ai_budget_used_up": http.StatusServiceUnavailable,
	"ai_unavailable": http.StatusServiceUnavailable,
}

// aiRetryAfter has the Retry-After of errors of the AI. The operator must
// correct those of an hour.
var aiRetryAfter = map[string]time.Duration{
	"no_ai": time.Hour, "ai_budget_used_up": time.Hour, "ai_unavailable": time.Minute,
}

// jobProblem returns the response of a job without a result.
func jobProblem(job *jobs.Job) *problem.Problem {
	if job.Error == nil {
		return errCancelled
	}
	p := problemOf(job.Error)
	if p.Code == "listing_incomplete" && job.Kind == tasks.KindQuote {
		p.Status, p.Code = http.StatusBadRequest, "request_incomplete"
	}
	return p
}

// problemOf returns the response of the error of a job.
func problemOf(why *jobs.Error) *problem.Problem {
	p := &problem.Problem{Status: http.StatusInternalServerError, Notice: why.Notice}
	if status, ok := jobStatus[why.Code]; ok {
		p.Status, p.RetryAfter = status, aiRetryAfter[why.Code]
	}
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
