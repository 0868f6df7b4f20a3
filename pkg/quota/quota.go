// Package quota holds what one API key may use: requests per minute, running
// jobs and listings of running batches.
//
// In Redis: rate:key:<id>:<limit> counts the requests of a key, and
// open:{<id>} is a sorted set of its jobs by when they were submitted.
package quota

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// Limits are the quotas of one key. In a key's record 0 stands for the server's
// limit; there 0 is no limit.
type Limits struct {
	PerMinute  int `json:"perMinute,omitempty"`  // requests that start work
	Jobs       int `json:"jobs,omitempty"`       // running jobs, without those of batches
	BatchItems int `json:"batchItems,omitempty"` // listings in running batches
	// Bytes bounds what is kept for the key, in bytes (Bytes.Take).
	Bytes int64 `json:"bytes,omitempty"`
	// AITokens are those of the AI a day.
	AITokens int64 `json:"aiTokens,omitempty"`
}

// Or returns l with every limit that is 0 taken from defaults.
func (l Limits) Or(defaults Limits) Limits {
	return Limits{
		PerMinute:  cmp.Or(l.PerMinute, defaults.PerMinute),
		Jobs:       cmp.Or(l.Jobs, defaults.Jobs),
		BatchItems: cmp.Or(l.BatchItems, defaults.BatchItems),
		Bytes:      cmp.Or(l.Bytes, defaults.Bytes),
		AITokens:   cmp.Or(l.AITokens, defaults.AITokens),
	}
}

// Allowance is the outcome of Allow.
type Allowance struct {
	Allowed    bool
	Limit      int           // requests per minute
	Remaining  int           // requests
	Reset      time.Duration // until Remaining is Limit again
	RetryAfter time.Duration // 0 when the request is allowed
}

// Limiter counts in Redis, so that all API processes share the counts.
type Limiter struct {
	redis redis.UniversalClient
	rate  *redis_rate.Limiter
}

// NewLimiter returns a Limiter on a Redis connection, which the caller closes.
func NewLimiter(client redis.UniversalClient) *Limiter {
	return &Limiter{client, redis_rate.NewLimiter(client)}
}

// Allow counts one request of the key with this id against perMinute.
func (l *Limiter) Allow(ctx context.Context, id string, perMinute int) (Allowance, error) {
	// Each limit has its own counter: what remains of one means nothing to another.
	counter := fmt.Sprintf("key:%s:%d", id, perMinute)
	result, err := l.rate.Allow(ctx, counter, redis_rate.PerMinute(perMinute))
	if err != nil {
		return Allowance{}, fmt.Errorf("quota: count request: %w", err)
	}
	return Allowance{
		Allowed: result.Allowed > 0, Limit: perMinute, Remaining: result.Remaining,
		Reset: result.ResetAfter, RetryAfter: max(result.RetryAfter, 0),
	}, nil
}

// trackTTL is how long the jobs of a key are counted after the last of them
// was submitted. A job ends long before.
const trackTTL = 24 * time.Hour

func keyJobs(id string) string { return "open:{" + id + "}" }

// HasCapacity reports whether the key with this id may have one more job than
// those that Track counted, of at most maxJobs. ended returns those of a list of
// jobs that have ended. It is only called when the count has reached maxJobs:
// jobs are not counted down when they end, so a process that dies leaves no
// wrong count behind.
func (l *Limiter) HasCapacity(
	ctx context.Context, id string, maxJobs int, ended func(ctx context.Context, jobs []string) ([]string, error),
) (bool, error) {
	if below, err := l.isBelow(ctx, id, maxJobs); below || err != nil {
		return below, err
	}
	jobs, err := l.redis.ZRange(ctx, keyJobs(id), 0, -1).Result()
	if err != nil {
		return false, fmt.Errorf("quota: list jobs: %w", err)
	}
	over, err := ended(ctx, jobs)
	if err != nil {
		return false, err
	}
	if len(over) == 0 {
		return false, nil
	}
	members := make([]any, len(over))
	for i, job := range over {
		members[i] = job
	}
	if err := l.redis.ZRem(ctx, keyJobs(id), members...).Err(); err != nil {
		return false, fmt.Errorf("quota: remove ended jobs: %w", err)
	}
	return l.isBelow(ctx, id, maxJobs)
}

func (l *Limiter) isBelow(ctx context.Context, id string, maxJobs int) (bool, error) {
	n, err := l.redis.ZCard(ctx, keyJobs(id)).Result()
	if err != nil {
		return false, fmt.Errorf("quota: count jobs: %w", err)
	}
	return n < int64(maxJobs), nil
}

// Tracked returns the jobs of several keys that Track counted, by key; some have ended.
func (l *Limiter) Tracked(ctx context.Context, ids []string) (map[string][]string, error) {
	pipe := l.redis.Pipeline()
	found := make([]*redis.StringSliceCmd, len(ids))
	for i, id := range ids {
		found[i] = pipe.ZRange(ctx, keyJobs(id), 0, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("quota: list jobs: %w", err)
	}
	tracked := map[string][]string{}
	for i, id := range ids {
		tracked[id] = found[i].Val()
	}
	return tracked, nil
}

// Track counts a job of the key with this id until it has ended.
func (l *Limiter) Track(ctx context.Context, id, job string) error {
	pipe := l.redis.Pipeline()
	pipe.ZAdd(ctx, keyJobs(id), redis.Z{Score: float64(time.Now().UnixMilli()), Member: job})
	pipe.Expire(ctx, keyJobs(id), trackTTL)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("quota: track job: %w", err)
	}
	return nil
}
