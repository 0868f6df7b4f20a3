package batches

import (
	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errStateUnknown  = problem.BadRequest("state_unknown").Of("state")
	errSinceInvalid  = problem.BadRequest("since_invalid").Of("since")
	errFormatUnknown = problem.BadRequest("format_unknown").Of("format")
	errSortUnknown   = problem.BadRequest("sort_unknown")
	errNotFound      = problem.NotFound("batch_not_found")
	errNoneFailed    = problem.Conflict("none_failed")
)
