package jobs

import (
	"net/http"

	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errAttachmentNotKept = problem.Conflict("attachment_not_kept")
	errNotFailed         = problem.Conflict("job_not_failed")
	errStateUnknown      = problem.BadRequest("state_unknown.job").Of("state")
	errNotRequested      = problem.New(http.StatusForbidden, "not_asked.retry", nil)
	errNotAsked          = problem.New(http.StatusForbidden, "not_asked", nil)
	errEnded             = problem.Conflict("job_ended")
	errWanted            = problem.Conflict("job_wanted")
)
