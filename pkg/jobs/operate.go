package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
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

// maxAged is among how many jobs of a class the oldest is looked for.
const maxAged = 5000

// scriptOldest returns the first id in the order of ids, which begin with their time, so
// that only one crosses a long line. KEYS: the set of a class. ARGV: maxAged.
var scriptOldest = redis.NewScript(`
local oldest = ''
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)) do
	if oldest == '' or id < oldest then oldest = id end
end
return oldest
`)

// Oldest returns when the oldest job of a class was created that has not been finalized;
// zero without one. A queue does not tell: a task that waits for a limit is taken from it
// and comes back as a new one.
func (s *Store) Oldest(ctx context.Context, class Class) (time.Time, error) {
	id, err := scriptOldest.Run(ctx, s.redis, []string{keyActive(class)}, maxAged).Text()
	if err != nil {
		return time.Time{}, fmt.Errorf("jobs: oldest: %w", err)
	}
	if len(id) < ulid.EncodedSize {
		return time.Time{}, nil
	}
	parsed, err := ulid.ParseStrict(id[:ulid.EncodedSize])
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // it is none of ours
	}
	return parsed.Timestamp(), nil
}

// getChunk is how many records GetAll reads in one round trip.
const getChunk = 100

// GetAll returns the jobs that have a record.
func (s *Store) GetAll(ctx context.Context, ids []string) ([]*Job, error) {
	found := make([]*Job, 0, len(ids))
	for part := range slices.Chunk(ids, getChunk) {
		records, err := redisx.Each(ctx, s.redis, part, func(pipe redis.Pipeliner, id string) *redis.MapStringStringCmd {
			return pipe.HGetAll(ctx, keyJob(id))
		})
		if err != nil {
			return nil, fmt.Errorf("jobs: read: %w", err)
		}
		for i, record := range records {
			switch job, err := parse(part[i], record.Val()); {
			case err == nil:
				found = append(found, job)
			case !errors.Is(err, ErrNotFound):
				return nil, err
			}
		}
	}
	return found, nil
}
