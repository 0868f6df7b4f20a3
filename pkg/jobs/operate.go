package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// ListActive returns the ids of the jobs of classes that have not been finalized.
func (s *Store) ListActive(ctx context.Context, classes ...Class) (ids []string, err error) {
	for _, class := range classes {
		found, err := s.redis.ZRange(ctx, keyActive(class), 0, -1).Result()
		if err != nil {
			return nil, fmt.Errorf("jobs: list active: %w", err)
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// getChunk is how many records GetAll reads in one round trip.
const getChunk = 100

// GetAll returns the jobs that have a record.
func (s *Store) GetAll(ctx context.Context, ids []string) ([]*Job, error) {
	found := make([]*Job, 0, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), getChunk)
		pipe := s.redis.Pipeline()
		records := make([]*redis.MapStringStringCmd, n)
		for i, id := range ids[:n] {
			records[i] = pipe.HGetAll(ctx, keyJob(id))
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, fmt.Errorf("jobs: read: %w", err)
		}
		for i, record := range records {
			if record.Val()["meta"] == "" {
				continue
			}
			job, err := parse(ids[i], record.Val())
			if err != nil {
				return nil, err
			}
			found = append(found, job)
		}
		ids = ids[n:]
	}
	return found, nil
}

// scriptForget deletes a dedup key. KEYS: the dedup key. ARGV: the job that must have it.
var scriptForget = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`)

// ForgetRefusal lets the next request with a dedup key start a new job, although the job
// that has the key has ended and would be joined for a while. It reports whether there was
// such a job.
func (s *Store) ForgetRefusal(ctx context.Context, dedupKey string) (bool, error) {
	key := keyInflight(slotOfDedup(dedupKey), dedupKey)
	id, err := s.redis.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("jobs: read a dedup key: %w", err)
	}
	if ended, err := s.ended(ctx, id); err != nil && !errors.Is(err, ErrNotFound) || err == nil && !ended {
		return false, err
	}
	forgot, err := scriptForget.Run(ctx, s.redis, []string{key}, id).Bool()
	if err != nil {
		return false, fmt.Errorf("jobs: delete a dedup key: %w", err)
	}
	return forgot, nil
}
