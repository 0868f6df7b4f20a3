package visitor

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
)

// Window is a time in which something is counted.
type Window struct {
	name, whose string
	length      time.Duration
	most        int64
}

// Hourly counts what a visitor or a network does in an hour.
func Hourly(name, whose string, most int64) Window { return Window{name, whose, time.Hour, most} }

// Daily counts what a visitor or a network does in a day.
func Daily(name, whose string, most int64) Window { return Window{name, whose, 24 * time.Hour, most} }

// Within counts a request in windows. When one of them has too many it returns the problem,
// with the time until there is room again.
func (v *Visitors) Within(parent context.Context, tooMany *problem.Problem, windows ...Window) error {
	ctx, cancel := context.WithTimeout(parent, frame.RedisTimeout)
	defer cancel()
	now := time.Now()
	pipe := v.redis.Pipeline()
	counts := make([]*redis.IntCmd, len(windows))
	for i, w := range windows {
		key := fmt.Sprintf("page:count:%s:%s.%d", w.name, w.whose, now.Unix()/int64(w.length.Seconds()))
		counts[i] = pipe.Incr(ctx, key)
		pipe.Expire(ctx, key, w.length)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return frame.ErrRedis(err)
	}
	wait := time.Duration(0)
	for i, w := range windows {
		if counts[i].Val() > w.most {
			wait = max(wait, w.length-time.Duration(now.UnixNano())%w.length)
		}
	}
	if wait == 0 {
		return nil
	}
	return tooMany.After(wait)
}
