package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// keyOf is a sorted set of the jobs that an API key has requested, all with the score 0:
// their ids begin with the time, so that their order is that of their creation.
func keyOf(owner string) string { return "jobs:of:{" + owner + "}" }

const (
	// maxListed is how many jobs of a key are listed: the newest.
	maxListed = 1000
	// listedTTL is how long the list is kept after the last request. A record may be
	// kept for its deadline and two retentions.
	listedTTL = 3 * retention
)

// ErrBadCursor means that a cursor is not the id of a job.
var ErrBadCursor = errors.New("jobs: not a cursor")

// scriptList adds a job to the list of a key, from which the oldest drop out. ARGV: id,
// maximum, TTL in ms.
var scriptList = redis.NewScript(`
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// list adds a job to the list of the key that has requested it.
func list(run redisx.ScriptRunner, owner, id string) {
	run(scriptList, []string{keyOf(owner)}, id, maxListed, listedTTL.Milliseconds())
}

// IsListed reports whether an API key has requested a job.
func (s *Store) IsListed(ctx context.Context, owner, id string) (bool, error) {
	err := s.redis.ZScore(ctx, keyOf(owner), id).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// List returns up to limit jobs that an API key has requested, newest first, older than
// the one named by before ("" is no bound), and with a state only those in it. They have
// neither steps nor result. more reports whether there may be others.
func (s *Store) List(ctx context.Context, owner, before string, limit int, state State) (found []*Job, more bool, err error) {
	bound := "+"
	if before != "" {
		if len(before) < ulid.EncodedSize {
			return nil, false, ErrBadCursor
		}
		if _, err := ulid.ParseStrict(before[:ulid.EncodedSize]); err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrBadCursor, err)
		}
		bound = "(" + before
	}
	for {
		ids, err := s.redis.ZRevRangeByLex(ctx, keyOf(owner), &redis.ZRangeBy{Min: "-", Max: bound, Count: listChunk}).Result()
		if err != nil || len(ids) == 0 {
			return found, false, err
		}
		all, err := s.heads(ctx, owner, ids)
		if err != nil {
			return nil, false, err
		}
		for _, job := range all {
			switch {
			case state != "" && job.State != state:
			case len(found) == limit:
				return found, true, nil
			default:
				found = append(found, job)
			}
		}
		bound = "(" + ids[len(ids)-1]
	}
}

// listChunk is how many records are read at once.
const listChunk = 100

// heads returns those of the jobs of a key whose records exist, without steps and results.
func (s *Store) heads(ctx context.Context, owner string, ids []string) (found []*Job, err error) {
	names := []string{"meta", "state", "ended", "error", "asked", "promoted", "q:" + owner}
	replies, err := redisx.Each(ctx, s.redis, ids, func(pipe redis.Pipeliner, id string) *redis.SliceCmd {
		return pipe.HMGet(ctx, keyJob(id), names...)
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: list: %w", err)
	}
	for i, id := range ids {
		fields := map[string]string{}
		for j, value := range replies[i].Val() {
			if text, ok := value.(string); ok {
				fields[names[j]] = text
			}
		}
		job, err := parse(id, fields)
		if errors.Is(err, ErrNotFound) { // it has expired, or was never created
			continue
		}
		if err != nil {
			return nil, err
		}
		job.Query = fields["q:"+owner]
		found = append(found, job)
	}
	return found, nil
}
