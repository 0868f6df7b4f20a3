package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"ushuru/pkg/keys"
)

// authenticated lets a request through that carries a good key.
func (s *Server) authenticated(next http.Handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
		key, err := s.options.Keys.Verify(ctx, credential(r.Header))
		cancel()
		switch {
		case errors.Is(err, keys.ErrInvalid):
			w.Header().Set("WWW-Authenticate", `Bearer realm="Ushuru"`)
			return errUnauthorized
		case err != nil:
			return errUnavailable.withCause(err)
		}
		recorderOf(r).key = key
		next.ServeHTTP(w, r)
		return nil
	}
}

// credential returns the API key that a request carries, in either header or
// in both; nothing when two differ or when Authorization is of another scheme.
func credential(h http.Header) string {
	found := h.Values("X-Api-Key")
	for _, value := range h.Values("Authorization") {
		scheme, token, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		found = append(slices.Clip(found), strings.TrimSpace(token))
	}
	for _, other := range found {
		if other != found[0] {
			return ""
		}
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}
