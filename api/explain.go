package api

import (
	"context"

	"ushuru/pkg/cache"
)

// noExplanation replaces an explanation that is no longer cached.
const noExplanation = `{"explain":[],"notes":["The sources of these values are no longer stored."]}`

// explained returns an estimate together with the source of each value. The
// explanation is cached beside the estimate, so that callers who do not ask
// for it get the cached bytes as they are.
func (s *Server) explained(ctx context.Context, estimate []byte, key cache.Key) ([]byte, error) {
	explanation, err := s.cachedResult(ctx, cache.ExplanationKey(key))
	if err != nil {
		return nil, err
	}
	if explanation == nil {
		explanation = []byte(noExplanation)
	}
	return mergeObjects(estimate, explanation), nil
}
