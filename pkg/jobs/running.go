package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// trackTTL is how long the running jobs of a key are counted after the last of them was
// submitted. A job ends long before.
const trackTTL = 24 * time.Hour

// keyRunning is a sorted set of the jobs of a key that count against its limit of running
// jobs, by when they were submitted.
func keyRunning(owner string) string { return "open:{" + owner + "}" }

// HasCapacity reports whether a key may have one more running job beside those that Track
// counted, of at most maxJobs. Jobs are not counted down when they end, so that a process
// that dies leaves no wrong count behind. When the count has reached maxJobs, HasCapacity
// removes the jobs that have ended.
func (s *Store) HasCapacity(ctx context.Context, owner string, maxJobs int) (bool, error) {
	if below, err := s.runsBelow(ctx, owner, maxJobs); below || err != nil {
		return below, err
	}
	ids, err := s.redis.ZRange(ctx, keyRunning(owner), 0, -1).Result()
	if err != nil {
		return false, fmt.Errorf("jobs: list running jobs: %w", err)
	}
	ended, err := s.ListEnded(ctx, ids)
	if err != nil || len(ended) == 0 {
		return false, err
	}
	members := make([]any, len(ended))
	for i, id := range ended {
		members[i] = id
	}
	if err := s.redis.ZRem(ctx, keyRunning(owner), members...).Err(); err != nil {
		return false, fmt.Errorf("jobs: remove ended jobs: %w", err)
	}
	return s.runsBelow(ctx, owner, maxJobs)
}

func (s *Store) runsBelow(ctx context.Context, owner string, maxJobs int) (bool, error) {
	n, err := s.redis.ZCard(ctx, keyRunning(owner)).Result()
	if err != nil {
		return false, fmt.Errorf("jobs: count running jobs: %w", err)
	}
	return n < int64(maxJobs), nil
}

// Track counts a job against the running jobs of a key until it has ended.
func (s *Store) Track(ctx context.Context, owner, id string) error {
	pipe := s.redis.Pipeline()
	pipe.ZAdd(ctx, keyRunning(owner), redis.Z{Score: float64(time.Now().UnixMilli()), Member: id})
	pipe.Expire(ctx, keyRunning(owner), trackTTL)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("jobs: track a job: %w", err)
	}
	return nil
}

// Tracked returns the jobs of several keys that Track counted, by key; some have ended.
func (s *Store) Tracked(ctx context.Context, owners []string) (map[string][]string, error) {
	pipe := s.redis.Pipeline()
	found := make([]*redis.StringSliceCmd, len(owners))
	for i, owner := range owners {
		found[i] = pipe.ZRange(ctx, keyRunning(owner), 0, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("jobs: list running jobs: %w", err)
	}
	tracked := map[string][]string{}
	for i, owner := range owners {
		tracked[owner] = found[i].Val()
	}
	return tracked, nil
}
