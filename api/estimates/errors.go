package estimates

import (
	"net/http"

	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errFieldInvalid   = problem.BadRequest("field_invalid.estimate")
	errPageEmpty      = problem.BadRequest("page_empty").Of("html")
	errYenRateMissing = problem.BadRequest("jpy_rate_missing.quote").Of("jpyPerUSD")
	errPageTooLarge   = problem.New(http.StatusRequestEntityTooLarge, "page_too_large", nil).Of("html")
)
