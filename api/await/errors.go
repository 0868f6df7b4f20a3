package await

import (
	"net/http"

	"ushuru/api/problem"
	"ushuru/api/respond"
)

// Each is named by its code.
var (
	ErrJobNotFound = problem.NotFound("job_not_found")
	errCancelled   = problem.Conflict("cancelled")
	errNotFinished = problem.New(http.StatusGatewayTimeout, "not_finished", nil).After(respond.PollAfter)
)
