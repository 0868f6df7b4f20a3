package vehicles

import (
	"net/http"
	"time"

	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errCatalogueMissing = problem.New(http.StatusServiceUnavailable, "catalogue_missing", nil).After(5 * time.Second)
	errMakeNotFound     = problem.NotFound("make_not_found").Of("make")
	errLabelNotFound    = problem.NotFound("label_not_found").Of("modelBody")
)
