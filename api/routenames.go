package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"ushuru/api/request"
)

// named is the middleware that records the route of a request, for the metrics.
func (s *Server) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route := mux.CurrentRoute(r); route != nil {
			template, _ := route.GetPathTemplate() // every route has one
			request.SetRoute(w, s.templates[template])
		}
		next.ServeHTTP(w, r)
	})
}

// nameRoutes adds the routes of routers to the metrics.
func (s *Server) nameRoutes(routers ...*mux.Router) {
	s.templates = map[string]string{}
	for _, router := range routers {
		_ = router.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error { // which returns no error
			template, err := route.GetPathTemplate()
			if err != nil {
				return nil //nolint:nilerr // it has no path
			}
			name := withoutPatterns(template)
			s.templates[template] = name
			for _, method := range methodsOf(route) {
				s.options.Metrics.AddRoute(name, method, strings.HasSuffix(name, "/events"))
			}
			return nil
		})
	}
}

// methodsOf returns the methods that a route answers, without HEAD and OPTIONS.
func methodsOf(route *mux.Route) []string {
	if byMethod, ok := route.GetHandler().(request.Methods); ok {
		return slices.Collect(maps.Keys(byMethod))
	}
	if named, err := route.GetMethods(); err == nil {
		return slices.DeleteFunc(slices.Clone(named), func(method string) bool { return method == http.MethodHead })
	}
	return []string{http.MethodGet, http.MethodPost, http.MethodDelete}
}

// withoutPatterns returns the template of a route without the patterns of its variables:
// /v1/jobs/{id} of /v1/jobs/{id:[0-9A-Za-z]{1,64}}.
func withoutPatterns(template string) string {
	var name strings.Builder
	depth, inPattern := 0, false
	for _, char := range template {
		switch {
		case char == '{':
			depth++
		case char == '}':
			depth--
			inPattern = inPattern && depth > 0
		case char == ':' && depth == 1:
			inPattern = true
		}
		if !inPattern {
			name.WriteRune(char)
		}
	}
	return name.String()
}
