package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// methods are the handlers of one address by method. HEAD is answered where
// GET is, and OPTIONS everywhere; any other is refused with what is allowed.
type methods map[string]handler

// ServeHTTP answers with the handler of the request's method.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http leaves the body out
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

// problemHandler is the handler that always answers with a problem.
func problemHandler(p *problem) handler {
	return func(http.ResponseWriter, *http.Request) error { return p }
}
