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
		return nil, errUnavailable.withCause(err)
	}
	return cached, nil
}
