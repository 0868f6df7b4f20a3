package ai

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// darEsSalaam is UTC+3 all the year, without a table of zones.
var darEsSalaam = time.FixedZone("Africa/Dar_es_Salaam", 3*60*60)

const keyTokens = "ai:tokens:" // and the day: what all processes used or reserved

// budget counts tokens in Redis against the limit of a day.
type budget struct {
	redis redis.UniversalClient
	limit int64 // 0: none
	now   func() time.Time
}

// reservation is the maximum number of tokens of a call, on its first day.
type reservation struct {
	key    string
	tokens int
}

// reserveScript adds ARGV[1] unless the sum exceeds ARGV[2]; it returns the
// previous use, or -1.
var reserveScript = redis.NewScript(`
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return {0, used} end
redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], 172800)
return {1, used}`)

// reserve counts the maximum cost of a call before it is made, so that concurrent
// calls cannot exceed the limit together. Without Redis no call is made.
func (b *budget) reserve(ctx context.Context, tokens int) (reservation, error) {
	if b.limit == 0 {
		return reservation{}, nil
	}
	now := b.now().In(darEsSalaam)
	r := reservation{keyTokens + now.Format(time.DateOnly), tokens}
	result, err := reserveScript.Run(ctx, b.redis, []string{r.key}, tokens, b.limit).Int64Slice()
	if err != nil {
		return reservation{}, fmt.Errorf("ai: budget: %w", err)
	}
	if len(result) != 2 {
		return reservation{}, errors.New("ai: budget: Redis answers something else")
	}
	if result[0] == 0 {
		year, month, day := now.Date()
		return reservation{}, &BudgetError{b.limit, result[1], time.Date(year, month, day+1, 0, 0, 0, 0, darEsSalaam)}
	}
	return r, nil
}

// reconcile replaces the reservation by the actual use. The reservation of a
// process that dies stays until the end of the day.
func (b *budget) reconcile(ctx context.Context, r reservation, used int) error {
	if r.key == "" || used == r.tokens {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return b.redis.IncrBy(ctx, r.key, int64(used-r.tokens)).Err()
}
