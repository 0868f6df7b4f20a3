package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

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
