package api

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

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

// methods has the handlers of one path by method. HEAD is answered as GET, and
// OPTIONS on every path. Other methods get 405 with the Allow header.
type methods map[string]handler

// ServeHTTP calls the handler of the request's method.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http omits the body
	}
	if h, ok := m[method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Allow", m.allowed())
	if method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	problemHandler(errMethodNotAllowed).ServeHTTP(w, r)
}

func (m methods) allowed() string {
	allowed := append(slices.Collect(maps.Keys(m)), http.MethodOptions)
	if _, ok := m[http.MethodGet]; ok {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	return strings.Join(allowed, ", ")
}
