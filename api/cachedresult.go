package api

import (
	"context"
	"errors"

	"ushuru/pkg/cache"
)

// cachedResult returns a cached result; nil when there is none.
func (s *Server) cachedResult(parent context.Context, key cache.Key) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	cached, err := s.options.Cache.Get(ctx, key)
	switch {
	case errors.Is(err, cache.ErrMiss):
		return nil, nil
	case err != nil:
		return nil, errUnavailable.WithCause(err)
	}
	return cached, nil
}

// cachedOutcome returns a cached result as the outcome of a request; it is empty when
// there is none.
func (s *Server) cachedOutcome(ctx context.Context, key cache.Key) (outcome, error) {
	result, err := s.cachedResult(ctx, key)
	if result == nil {
		return outcome{}, err
	}
	return outcome{result: result, cacheKey: key}, nil
}
