package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"ushuru/api/request"
	"ushuru/pkg/keys"
)

// authenticated is the middleware that requires a valid API key.
func (s *Server) authenticated(next http.Handler) request.Handler {
	return func(w http.ResponseWriter, plain *http.Request) error {
		r := request.From(plain)
		key, err := s.options.Verify(r.Context(), credential(r.Header))
		switch {
		case errors.Is(err, keys.ErrInvalid):
			r.Refused = key.ID
			w.Header().Set("WWW-Authenticate", `Bearer realm="Ushuru"`)
			return errUnauthorized
		case err != nil:
			return request.ErrUnavailable.WithCause(err)
		}
		r.Key = key
		s.options.Metrics.Recorder().Key(key.ID)
		if err := s.limits.Admit(r); err != nil {
			return err
		}
		if err := r.ReadParameters(s.options.WaitMax); err != nil {
			return err
		}
		request.Decode(plain)
		next.ServeHTTP(w, plain)
		return nil
	}
}

// credential returns the API key of a request, from either header or from both. It is
// empty when two keys differ. An Authorization of another scheme, such as a proxy's, and
// an empty one are no keys.
func credential(h http.Header) (found string) {
	given := slices.Clone(h.Values("X-Api-Key"))
	for _, value := range h.Values("Authorization") {
		if scheme, token, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Bearer") {
			given = append(given, strings.TrimSpace(token))
		}
	}
	for _, key := range given {
		switch {
		case key == "" || key == found:
		case found != "":
			return ""
		default:
			found = key
		}
	}
	return found
}
