package keys

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// Limits are what one key may ask for. In a key's record 0 stands for the
// server's own limit, which is none where it is 0 too.
type Limits struct {
	PerMinute  int `json:"perMinute,omitempty"`  // requests that begin work
	Jobs       int `json:"jobs,omitempty"`       // jobs at once that somebody waits for
	BatchItems int `json:"batchItems,omitempty"` // listings of batches that have not ended
}

// Or fills what the key leaves open.
func (l Limits) Or(defaults Limits) Limits {
	return Limits{
		PerMinute:  cmp.Or(l.PerMinute, defaults.PerMinute),
		Jobs:       cmp.Or(l.Jobs, defaults.Jobs),
		BatchItems: cmp.Or(l.BatchItems, defaults.BatchItems),
	}
}

// Allowance is where a key stands with its requests.
type Allowance struct {
	Allowed    bool
	Limit      int // a minute
	Remaining  int
	Reset      time.Duration // until all of them are there again
	RetryAfter time.Duration // when not Allowed
}

// Limiter counts in Redis, for all API processes together.
type Limiter struct {
	redis redis.UniversalClient
	rate  *redis_rate.Limiter
}

// NewLimiter makes a Limiter on a Redis connection that stays the caller's.
func NewLimiter(client redis.UniversalClient) *Limiter {
	return &Limiter{client, redis_rate.NewLimiter(client)}
}

// Take takes one of the requests that a key has a minute.
func (l *Limiter) Take(ctx context.Context, id string, perMinute int) (Allowance, error) {
	// Another limit counts anew: what is left of one means nothing to the other.
	counter := fmt.Sprintf("key:%s:%d", id, perMinute)
	result, err := l.rate.Allow(ctx, counter, redis_rate.PerMinute(perMinute))
	if err != nil {
		return Allowance{}, err
	}
	return Allowance{
		Allowed: result.Allowed > 0, Limit: perMinute, Remaining: result.Remaining,
		Reset: result.ResetAfter, RetryAfter: max(result.RetryAfter, 0),
	}, nil
}

// openLife is how long a job is counted at most, should nobody look.
const openLife = 24 * time.Hour

func keyOpen(id string) string { return "open:{" + id + "}" }

// Room reports whether a key may have one more job. Those that have ended are
// found by asking, and only when the count is full, so that nobody has to
// count down and a process that dies leaves nothing behind.
func (l *Limiter) Room(
	ctx context.Context, id string, most int, ended func(ctx context.Context, jobs []string) ([]string, error),
) (bool, error) {
	full := func() (bool, error) {
		n, err := l.redis.ZCard(ctx, keyOpen(id)).Result()
		return n >= int64(most), err
	}
	if is, err := full(); err != nil || !is {
		return !is, err
	}
	open, err := l.redis.ZRange(ctx, keyOpen(id), 0, -1).Result()
	if err != nil {
		return false, err
	}
	gone, err := ended(ctx, open)
	if err != nil {
		return false, err
	}
	if len(gone) > 0 {
		members := make([]any, len(gone))
		for i, job := range gone {
			members[i] = job
		}
		if err := l.redis.ZRem(ctx, keyOpen(id), members...).Err(); err != nil {
			return false, err
		}
	}
	is, err := full()
	return !is, err
}

// Opened counts a job of a key.
func (l *Limiter) Opened(ctx context.Context, id, job string) error {
	pipe := l.redis.Pipeline()
	pipe.ZAdd(ctx, keyOpen(id), redis.Z{Score: float64(time.Now().UnixMilli()), Member: job})
	pipe.Expire(ctx, keyOpen(id), openLife)
	_, err := pipe.Exec(ctx)
	return err
}
