package api

import (
	"context"
	"net/http"

	"ushuru/pkg/cache"
)

// unexplained stands in for an explanation that is not kept.
const unexplained = `{"explain":[],"notes":["Where these values came from is no longer known."]}`

// explainedWriter sends an estimate, with where its values came from when the
// caller asked for that. The explanation is kept apart from the estimate, so
// that those who do not ask are served what is kept as it is.
func (s *Server) explainedWriter(ctx context.Context, key cache.Key, explain bool) writer {
	return func(w http.ResponseWriter, estimate []byte) error {
		if !explain {
			return writeBytes(w, http.StatusOK, estimate)
		}
		explanation, err := s.cached(ctx, cache.ExplanationKey(key))
		if err != nil {
			return err
		}
		if explanation == nil {
			explanation = []byte(unexplained)
		}
		return writeBytes(w, http.StatusOK, mergeObjects(estimate, explanation))
	}
}

// mergeObjects makes one JSON object of two, neither of them empty.
func mergeObjects(a, b []byte) []byte {
	both := make([]byte, 0, len(a)+len(b))
	both = append(both, a[:len(a)-1]...)
	both = append(both, ',')
	return append(both, b[1:]...)
}
