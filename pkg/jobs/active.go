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

// ListDue returns up to limit jobs of a class that are due for a check, each to
// one caller only. The caller has the time hold to check the job and to schedule
// the next check; after that the job is due again.
func (s *Store) ListDue(ctx context.Context, class Class, limit int, hold time.Duration) ([]string, error) {
	return scriptListDue.Run(ctx, s.redis, []string{keyActive(class)}, limit, hold.Milliseconds()).StringSlice()
}

// Now returns the time by the clock of Redis, as the times in a record are.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return s.redis.Time(ctx).Result()
}

// ScheduleCheck sets when the sweeper checks an active job next.
func (s *Store) ScheduleCheck(ctx context.Context, id string, class Class, after time.Duration) error {
	return s.scheduleCheck(ctx, id, class, after, "XX")
}

func (s *Store) scheduleCheck(ctx context.Context, id string, class Class, after time.Duration, mode string) error {
	return scriptSchedule.Run(ctx, s.redis, []string{keyActive(class)}, id, after.Milliseconds(), mode).Err()
}

// RemoveActive removes a job from a class of the sweeper's set: its record is
// gone, or it is in the other class now.
func (s *Store) RemoveActive(ctx context.Context, id string, class Class) error {
	return s.redis.ZRem(ctx, keyActive(class), id).Err()
}

// scriptPromote marks a bulk job that has not ended as interactive, and gives its ready steps
// their next attempt. It returns 1 when this call did, and the record as it is then.
var scriptPromote = redis.NewScript(luaNow + `
local promoted = 0
local meta = redis.call('HGET', KEYS[1], 'meta')
if meta and not ended() and cjson.decode(meta).class == 'bulk' then
  promoted = redis.call('HSETNX', KEYS[1], 'promoted', 1)
end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local s = string.match(field, '^(s:.+:)state$')
  if promoted == 1 and s and redis.call('HGET', KEYS[1], field) == 'ready' then
    redis.call('HDEL', KEYS[1], s .. 'idle')
    redis.call('HSET', KEYS[1], s .. 'since', now)
    redis.call('HINCRBY', KEYS[1], s .. 'attempt', 1)
  end
end
return {promoted, redis.call('HGETALL', KEYS[1])}
`)

// Promote makes an interactive job of a bulk job that has not ended, and gives its ready steps the
// next attempt, because their tasks are in the queue of batches. The deadline stays. It may run
// twice, and returns the record as it is then, and whether this call promoted the job. The sweeper's
// set is in another slot and comes first: after an error the tasks of the batch are still those of
// the record, and the sweeper moves a job back whose record has the other class.
func (s *Store) Promote(ctx context.Context, id string) (job *Job, promoted bool, err error) {
	if err := s.MoveToClass(ctx, id, Bulk, Interactive); err != nil {
		return nil, false, err
	}
	reply, err := scriptPromote.Run(ctx, s.redis, []string{keyJob(id)}).Slice()
	if err != nil {
		return nil, false, err
	}
	job, err = parseReply(id, reply[1])
	return job, err == nil && reply[0] == int64(1), err
}

// MoveToClass moves a job to another class of the sweeper's set.
func (s *Store) MoveToClass(ctx context.Context, id string, from, to Class) error {
	if err := s.scheduleCheck(ctx, id, to, firstCheckDelay, "NX"); err != nil {
		return err
	}
	return s.RemoveActive(ctx, id, from)
}

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
