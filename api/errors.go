package api

import (
	"net/http"

	"ushuru/api/problem"
	"ushuru/pkg/message"
)

// Every error that a client can see. Each is named by its code. Errors of a URL
// (urlProblem), of a field (fieldProblem) and of a failed job (jobProblem) have
// their own code and message.
var (
	errUnauthorized = &problem.Problem{ // no code: the contract gives the whole body
		Status: http.StatusUnauthorized, Notice: message.Notice{Message: "Invalid or missing API key"},
	}
	errAmbiguousLength = problem.BadRequest("length_ambiguous")
)
