package monitoring

import (
	"net/http"

	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errLoginRequired = problem.New(http.StatusUnauthorized, "login_required", nil)
	errLoginSlowed   = problem.New(http.StatusTooManyRequests, "login_slowed", nil)
	errCrossOrigin   = problem.New(http.StatusForbidden, "cross_origin", nil)
)
