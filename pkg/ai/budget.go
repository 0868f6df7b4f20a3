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

// reservation is what a call may use at most, on the day that it began.
type reservation struct {
	key    string
	tokens int
}

// reserveScript adds ARGV[1] unless that goes beyond ARGV[2]; it returns -1,
// or what was used before.
var reserveScript = redis.NewScript(`
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return {0, used} end
redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], 172800)
return {1, used}`)

// reserve takes the most that a call can cost before it is made, so that many
// calls at the same time cannot go beyond the limit together. Without Redis to
// count in, nothing is asked.
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

// reconcile replaces what was reserved by what was used. A process that dies
// before leaves its reservation until the end of the day.
func (b *budget) reconcile(ctx context.Context, r reservation, used int) error {
	if r.key == "" || used == r.tokens {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return b.redis.IncrBy(ctx, r.key, int64(used-r.tokens)).Err()
}
