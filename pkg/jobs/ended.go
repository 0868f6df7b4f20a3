package jobs

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// ListEnded returns those of the jobs that have ended or are gone.
func (s *Store) ListEnded(ctx context.Context, ids []string) (gone []string, err error) {
	pipe := s.redis.Pipeline()
	states := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		states[i] = pipe.HGet(ctx, keyJob(id), "state")
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	for i, id := range ids {
		state, err := states[i].Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		if err != nil || State(state).Ended() {
			gone = append(gone, id)
		}
	}
	return gone, nil
}
