package problem

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"ushuru/pkg/message"
)

// statuses has the HTTP status of the errors of jobs that the caller can correct, although
// only the job found them, or that say what the server lacks. That of definite refusals is
// 422, that of all others 500.
var statuses = map[string]int{
	"url_invalid": http.StatusBadRequest, "url_forbidden": http.StatusBadRequest, "url_unsupported": http.StatusBadRequest,

	"sheet_host_unsupported": http.StatusBadRequest, "sheet_type_unsupported": http.StatusBadRequest,
	"sheet_damaged": http.StatusBadRequest, "sheet_encrypted": http.StatusBadRequest,
	"sheet_too_many_pages": http.StatusBadRequest, "sheet_too_many_pixels": http.StatusBadRequest,
	"sheet_too_small": http.StatusBadRequest, "sheet_blank": http.StatusBadRequest,
	"not_a_sheet": http.StatusBadRequest, "sheet_unreadable": http.StatusBadRequest,
	"upload_expired": http.StatusBadRequest, "page_expired": http.StatusBadRequest, "request_incomplete": http.StatusBadRequest,
	"sheet_too_large": http.StatusRequestEntityTooLarge,

	"no_ai": http.StatusServiceUnavailable, "ai_budget_used_up": http.StatusServiceUnavailable,
	"ai_unavailable": http.StatusServiceUnavailable,
}

// retryAfter has the Retry-After of errors of the AI. The operator must correct those of
// an hour.
var retryAfter = map[string]time.Duration{
	"no_ai": time.Hour, "ai_budget_used_up": time.Hour, "ai_unavailable": time.Minute,
}

// OfJob returns the problem of a job that ended with an error. A permanent one is not
// worth sending the same request again.
func OfJob(said message.Notice, permanent bool) *Problem {
	p := &Problem{Status: http.StatusInternalServerError, Notice: said, Permanent: permanent}
	if status, ok := statuses[said.Code]; ok {
		p.Status, p.RetryAfter = status, retryAfter[said.Code]
	} else if message.IsDefinite(said.Code) {
		p.Status = http.StatusUnprocessableEntity
	}
	return p
}

// Retryable reports whether the same request can succeed later.
func (p *Problem) Retryable() bool {
	switch p.Status {
	case http.StatusBadRequest:
		return p.Code == "not_a_sheet" // a model says so, which may err
	case http.StatusServiceUnavailable:
		return p.Code != "no_ai" // the operator must configure one
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusGatewayTimeout:
		return true
	case http.StatusInternalServerError:
		return slices.Contains(passing, p.Code) || !p.Permanent && !message.IsDefinite(p.Code)
	}
	return false
}

// passing are the codes of a site that asked us to pause, and of an authority that gave
// figures that cannot be right. The job has ended, and a later one can succeed.
var passing = []string{"host_busy", "authority_implausible"}

// ours are the codes of errors that the operator must look at.
var ours = []string{"internal", "unavailable", "worker_lost", "deadline_exceeded"}

// Level returns the level at which a response with the problem is logged: Info for a mistake of
// the caller, Error for a fault of the service, Warn for one of a site, the authority or the AI.
func (p *Problem) Level() slog.Level {
	switch {
	case p.Status < http.StatusInternalServerError, p.Code == "not_finished",
		message.IsDefinite(p.Code), statuses[p.Code]/100 == 4: //nolint:mnd // 4xx
		return slog.LevelInfo
	case slices.Contains(ours, p.Code):
		return slog.LevelError
	}
	return slog.LevelWarn
}
