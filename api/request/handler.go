package request

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/pace"
)

// Handler responds to a request, or returns the error to respond with.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP responds with the handler's error. An error that is not a problem
// is a 500 without details.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	From(r).Place.Turn.Give() // before the response
	if err == nil {
		return
	}
	SetError(w, err)
	var (
		p     *problem.Problem
		spent *pace.SpentError
	)
	switch {
	case errors.As(err, &spent): // it may be the cause of a body that could not be read
		spent.Policy.SetHeaders(w.Header(), spent.Account)
		p = errComputed.After(max(WholeSeconds(spent.Account.RetryAfter), time.Second))
	case errors.As(err, &p) && p.Code == ErrTooSlow.Code: // net/http cancels such a request
	case r.Context().Err() != nil:
		p = ErrClientClosedRequest
	default:
		p = ProblemOf(err)
	}
	_ = WriteProblem(w, p)
}

var errComputed = problem.New(http.StatusTooManyRequests, "rate_limited.processor", nil)

// ProblemHandler is the handler that always responds with a problem.
func ProblemHandler(p *problem.Problem) Handler {
	return func(http.ResponseWriter, *http.Request) error { return p }
}

// Methods has the handlers of one path by method. HEAD is answered as GET, and
// OPTIONS on every path. Other methods get 405 with the Allow header.
type Methods map[string]Handler

// ServeHTTP calls the handler of the request's method.
func (m Methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	ProblemHandler(ErrMethodNotAllowed).ServeHTTP(w, r)
}

func (m Methods) allowed() string {
	allowed := append(slices.Collect(maps.Keys(m)), http.MethodOptions)
	if _, ok := m[http.MethodGet]; ok {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	return strings.Join(allowed, ", ")
}
