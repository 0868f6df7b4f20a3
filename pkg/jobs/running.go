package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// trackTTL is how long the running jobs of a key are counted after the last of them was
// submitted. A job ends long before.
const trackTTL = 24 * time.Hour

// keyRunning is a sorted set of the jobs of a key that count against its limit of running
// jobs, and of the places that are reserved ("?…"), by when they were submitted.
func keyRunning(owner string) string { return "open:{" + owner + "}" }

// reservedFor is how long a place is reserved for a job that is about to be submitted. That
// of a process that was killed is free afterwards.
const reservedFor = 15 * time.Second

// scriptReserve takes a place for one more running job. ARGV: how many a key may have; the name
// of the place; for how long places are reserved, and the TTL of the set, in ms. It returns
// whether there was one.
var scriptReserve = redis.NewScript(redisx.LuaClock + `
local most = tonumber(ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= most then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[3])) do
    if string.sub(name, 1, 1) == '?' then redis.call('ZREM', KEYS[1], name) end
  end
end
if redis.call('ZCARD', KEYS[1]) >= most then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`)

// Reserve takes a place for one more running job of a key, of at most maxJobs, and returns its
// name; "" when there is none. Track has it counted for a job. Jobs are not counted down when
// they end, so that a process that dies leaves no wrong count behind: when no place is free,
// Reserve removes the jobs that have ended.
func (s *Store) Reserve(ctx context.Context, owner string, maxJobs int) (place string, err error) {
	place = "?" + rand.Text()
	if ok, err := s.reserve(ctx, owner, place, maxJobs); ok || err != nil {
		return place, err
	}
	ids, err := s.redis.ZRange(ctx, keyRunning(owner), 0, -1).Result()
	if err != nil {
		return "", fmt.Errorf("jobs: list running jobs: %w", err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return strings.HasPrefix(id, "?") })
	ended, err := s.ListEnded(ctx, ids)
	if err != nil || len(ended) == 0 {
		return "", err
	}
	members := make([]any, len(ended))
	for i, id := range ended {
		members[i] = id
	}
	if err := s.redis.ZRem(ctx, keyRunning(owner), members...).Err(); err != nil {
		return "", fmt.Errorf("jobs: remove ended jobs: %w", err)
	}
	if ok, err := s.reserve(ctx, owner, place, maxJobs); !ok {
		return "", err
	}
	return place, nil
}

func (s *Store) reserve(ctx context.Context, owner, place string, maxJobs int) (bool, error) {
	ok, err := scriptReserve.Run(ctx, s.redis, []string{keyRunning(owner)},
		maxJobs, place, reservedFor.Milliseconds(), trackTTL.Milliseconds()).Bool()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, fmt.Errorf("jobs: reserve a running job: %w", err)
	}
	return ok, nil
}

// Track gives a place back that Reserve took, and counts a job in its stead until it has
// ended; with the id "" none.
func (s *Store) Track(ctx context.Context, owner, place, id string) error {
	_, err := s.redis.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZRem(ctx, keyRunning(owner), place)
		if id != "" {
			pipe.ZAdd(ctx, keyRunning(owner), redis.Z{Score: float64(time.Now().UnixMilli()), Member: id})
		}
		return nil
	})
	if err != nil {
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
