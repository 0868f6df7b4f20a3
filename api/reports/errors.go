package reports

import (
	"net/http"

	"ushuru/api/problem"
)

// Each is named by its code.
var (
	errURLMissing   = problem.BadRequest("url_missing.sheet").Of("url")
	errFormInvalid  = problem.BadRequest("form_invalid").Of("file")
	errFileEmpty    = problem.BadRequest("file_empty").Of("file")
	errFileTooLarge = problem.New(http.StatusRequestEntityTooLarge, "sheet_too_large", nil).Of("file")
	errNotFound     = problem.NotFound("report_not_found")
)
