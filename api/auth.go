package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"ushuru/pkg/keys"
)

// authenticated is the middleware that requires a valid API key.
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
			return errUnavailable.WithCause(err)
		}
		rec := recorderOf(r)
		rec.key = key
		if err := rec.setQueryLanguage(r); err != nil {
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	}
}

// credential returns the API key of a request, from either header or from both.
// It is empty when two keys differ or when Authorization has another scheme.
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
