package api

import (
	"errors"
	"net/http"

	"ushuru/api/problem"
	"ushuru/api/receive"
)

// errResponded is returned by a function that has written the response itself.
var errResponded = errors.New("api: the response is written")

// handler responds to a request, or returns the error to respond with.
type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP responds with the handler's error. An error that is not a problem
// is a 500 without details.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	recorderOf(r).turn.give() // before the response
	if err == nil || errors.Is(err, errResponded) {
		return
	}
	rec := recorderOf(r)
	rec.err = err
	var p *problem.Problem
	switch {
	case errors.As(err, &p) && p.Code == receive.ErrTooSlow.Code: // net/http cancels such a request
	case r.Context().Err() != nil:
		p = errClientClosedRequest
	case !errors.As(err, &p):
		p = errInternal
	}
	_ = writeProblem(w, p)
}

// problemHandler is the handler that always responds with a problem.
func problemHandler(p *problem.Problem) handler {
	return func(http.ResponseWriter, *http.Request) error { return p }
}
