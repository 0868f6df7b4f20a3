package api

import (
	"net/http"

	"ushuru/api/problem"
	"ushuru/pkg/message"
)

// The errors of package api itself. Resources and respond have their own.
var (
	errUnauthorized = &problem.Problem{ // no code: the contract gives the whole body
		Status: http.StatusUnauthorized, Notice: message.Notice{Message: "Invalid or missing API key"},
	}
	errAmbiguousLength = problem.BadRequest("length_ambiguous")
)
