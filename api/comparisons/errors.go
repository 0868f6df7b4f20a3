package comparisons

import (
	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errURLMissing  = problem.BadRequest("url_missing.pair")
	errSameListing = problem.BadRequest("same_listing").Of("url2")
)
