package ai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/fair"
)

// darEsSalaam is UTC+3 all the year, without a table of zones.
var darEsSalaam = time.FixedZone("Africa/Dar_es_Salaam", 3*60*60)

const keyTokens = "ai:tokens:" // and the day: what all processes used or reserved

// dayOf returns the key of a day's tokens, and when the day ends.
func dayOf(now time.Time) (key string, resets time.Time) {
	now = now.In(darEsSalaam)
	year, month, day := now.Date()
	return keyTokens + now.Format(time.DateOnly), time.Date(year, month, day+1, 0, 0, 0, 0, darEsSalaam)
}

// keyOwner returns the key of an owner's tokens of a day, in the slot of the day's.
func keyOwner(day, owner string) string { return "{" + day + "}:" + owner }

// KeyUsage returns how many tokens of this day an API key has used or reserved, and
// when the day ends.
func KeyUsage(ctx context.Context, client redis.UniversalClient, owner string, now time.Time) (int64, time.Time, error) {
	day, resets := dayOf(now)
	used, err := client.Get(ctx, keyOwner(day, owner)).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, resets, fmt.Errorf("ai: usage of a key: %w", err)
	}
	return used, resets, nil
}

// DayUsage returns how many tokens of this day all processes have used or reserved, and
// when the day ends.
func DayUsage(ctx context.Context, client redis.UniversalClient, now time.Time) (int64, time.Time, error) {
	day, resets := dayOf(now)
	used, err := client.Get(ctx, day).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, resets, fmt.Errorf("ai: usage of a day: %w", err)
	}
	return used, resets, nil
}

// budget counts tokens in Redis against the limits of a day: of all, and of each API
// key.
type budget struct {
	redis redis.UniversalClient
	limit int64 // 0: none
	// ofKey returns the limit of an API key, 0 for none.
	ofKey  func(ctx context.Context, owner string) (int64, error)
	now    func() time.Time
	log    *slog.Logger
	warned warnings
}

// reservation is the maximum number of tokens of a call, on its first day.
type reservation struct {
	day, owner   string
	tokens       int
	limit, ofKey int64
}

// scriptReserve adds ARGV[1] to the tokens of the day and, if KEYS has it, of a key,
// unless that exceeds ARGV[2] or ARGV[3]; 0 is no limit. It returns 1 when it did, 0
// when the day's tokens are used up and -1 when the key's are, and the previous use of
// that.
var scriptReserve = redis.NewScript(`
local tokens, limit, ofKey = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if KEYS[2] then
  local own = tonumber(redis.call('GET', KEYS[2]) or '0')
  if ofKey > 0 and own + tokens > ofKey then return {-1, own} end
end
if limit > 0 and used + tokens > limit then return {0, used} end
for _, key in ipairs(KEYS) do
  redis.call('INCRBY', key, tokens)
  redis.call('EXPIRE', key, 172800)
end
return {1, used}`)

// partAnonymous is the part of the day's tokens, in percent, after which visitors without
// a key get no more.
const partAnonymous = 80

// reserve counts the maximum cost of a call before it is made, so that concurrent
// calls cannot exceed the limits together. Without Redis no call is made.
func (b *budget) reserve(ctx context.Context, tokens int) (reservation, error) {
	owner := fair.Owner(ctx)
	ofKey, err := b.limitOf(ctx, owner)
	if err != nil {
		return reservation{}, fmt.Errorf("ai: budget of a key: %w", err)
	}
	if b.limit == 0 && ofKey == 0 {
		return reservation{}, nil
	}
	day, resets := dayOf(b.now())
	r := reservation{day, owner, tokens, b.limit, ofKey}
	limit := b.limit
	if owner == fair.Anonymous { // the rest of the day is for keys
		limit = limit * partAnonymous / 100
	}
	result, err := scriptReserve.Run(ctx, b.redis, r.keys(), tokens, limit, ofKey).Int64Slice()
	if err != nil {
		return reservation{}, fmt.Errorf("ai: budget: %w", err)
	}
	if len(result) != 2 {
		return reservation{}, errors.New("ai: budget: Redis answers something else")
	}
	switch result[0] {
	case 0:
		return reservation{}, &BudgetError{Limit: limit, Used: result[1], Resets: resets}
	case -1:
		return reservation{}, &BudgetError{Limit: ofKey, Used: result[1], Resets: resets, Key: owner}
	}
	return r, nil
}

// limitOf returns the limit of an API key.
func (b *budget) limitOf(ctx context.Context, owner string) (int64, error) {
	if owner == "" || b.ofKey == nil {
		return 0, nil
	}
	return b.ofKey(ctx, owner)
}

// keys returns the counters of a reservation: of the day and of the owner.
func (r reservation) keys() []string {
	if r.owner == "" {
		return []string{r.day}
	}
	return []string{r.day, keyOwner(r.day, r.owner)}
}

// reconcile replaces the reservation by the actual use, and logs when a half or four
// fifths of a limit are used. The reservation of a process that dies stays until the
// end of the day.
func (b *budget) reconcile(ctx context.Context, r reservation, used int) error {
	if r.day == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	pipe := b.redis.Pipeline()
	var counts []*redis.IntCmd
	for _, key := range r.keys() {
		counts = append(counts, pipe.IncrBy(ctx, key, int64(used-r.tokens)))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	b.warn(ctx, "the AI's tokens of this day are going down", r.day, "", counts[0].Val(), r.limit)
	if len(counts) > 1 {
		b.warn(ctx, "the AI's tokens of an API key of this day are going down", r.day, r.owner, counts[1].Val(), r.ofKey)
	}
	return nil
}

// Level returns the part of a limit that is used, of those that callers and the
// operator learn: 50 and 80 percent; 0 below.
func Level(used, limit int64) int {
	switch {
	case limit <= 0 || used*2 < limit:
		return 0
	case used*10 < limit*8:
		return 50
	}
	return 80
}

// warn logs once a day and process that a level is reached.
func (b *budget) warn(ctx context.Context, message, day, owner string, used, limit int64) {
	if level := Level(used, limit); level > 0 && b.warned.raise(day, owner, level) {
		b.log.WarnContext(ctx, message, "percent", level, "used", used, "limit", limit, "key", owner)
	}
}

// warnings remembers the highest level that was logged, of each owner this day.
type warnings struct {
	mu     sync.Mutex
	day    string
	levels map[string]int
}

// raise reports whether a level is higher than what was logged.
func (w *warnings) raise(day, owner string, level int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.day != day {
		w.day, w.levels = day, map[string]int{}
	}
	if w.levels[owner] >= level {
		return false
	}
	w.levels[owner] = level
	return true
}
