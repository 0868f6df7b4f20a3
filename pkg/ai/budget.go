package ai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/localtime"
	"ushuru/pkg/pace"
)

const keyTokens = "ai:tokens:" // and the day: what all processes used or reserved

// dayOf returns the key of a day's tokens, and when the day ends.
func dayOf(now time.Time) (key string, resets time.Time) {
	now = now.In(localtime.Zone)
	year, month, day := now.Date()
	return keyTokens + now.Format(time.DateOnly), time.Date(year, month, day+1, 0, 0, 0, 0, localtime.Zone)
}

// keyOwner returns the key of an owner's tokens of a day, in the slot of the day's.
func keyOwner(day, owner string) string { return "{" + day + "}:" + owner }

// keyLimit is the key of the limit that an operator has set for a day, in the slot of the
// day's tokens. No API key has this id.
func keyLimit(day string) string { return keyOwner(day, "limit") }

// dayTTL is how long the tokens and the limit of a day are kept.
const dayTTL = 48 * time.Hour

// DayBudget is what the AI may use and has used on a day.
type DayBudget struct {
	Used   int64     `json:"used"`   // tokens used or reserved
	Limit  int64     `json:"limit"`  // tokens; 0: no limit
	Set    bool      `json:"set"`    // an operator has set the limit for this day
	Resets time.Time `json:"resets"` // the end of the day
}

// ReadBudget returns the budget of this day; daily is the limit by the settings.
func ReadBudget(ctx context.Context, client redis.UniversalClient, daily int64, now time.Time) (DayBudget, error) {
	day, resets := dayOf(now)
	b := DayBudget{Limit: daily, Resets: resets}
	pipe := client.Pipeline()
	used, limit := pipe.Get(ctx, day), pipe.Get(ctx, keyLimit(day))
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return b, fmt.Errorf("ai: budget: %w", err)
	}
	b.Used, _ = used.Int64() // absent before the first call
	if set, err := limit.Int64(); err == nil {
		b.Limit, b.Set = set, true
	}
	return b, nil
}

// SetBudget sets the limit of this day, in place of that of the settings; 0 is no limit.
func SetBudget(ctx context.Context, client redis.UniversalClient, tokens int64, now time.Time) error {
	day, _ := dayOf(now)
	if err := client.Set(ctx, keyLimit(day), tokens, dayTTL).Err(); err != nil {
		return fmt.Errorf("ai: set the budget: %w", err)
	}
	return nil
}

// ResetBudget restores the limit of the settings.
func ResetBudget(ctx context.Context, client redis.UniversalClient, now time.Time) error {
	day, _ := dayOf(now)
	if err := client.Del(ctx, keyLimit(day)).Err(); err != nil {
		return fmt.Errorf("ai: reset the budget: %w", err)
	}
	return nil
}

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
// unless that exceeds a limit: ARGV[4] percent of that of the day, which is in KEYS[2] or
// else ARGV[2], or ARGV[3] of the key; 0 is no limit. ARGV[5] is the TTL in seconds. With 1 in
// ARGV[6] the owner has after it at most as much as is left: half of what it found. It
// returns 1 when it did, 0 when the day's tokens are used up and -1 when the key's are, the
// previous use of that, its limit, and the day's limit.
var scriptReserve = redis.NewScript(`
local tokens, ofKey = tonumber(ARGV[1]), tonumber(ARGV[3])
local day = tonumber(redis.call('GET', KEYS[2]) or ARGV[2])
local limit = math.floor(day * ARGV[4] / 100)
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if KEYS[3] then
  local own = tonumber(redis.call('GET', KEYS[3]) or '0')
  if ofKey > 0 and own + tokens > ofKey then return {-1, own, ofKey, day} end
  if ARGV[6] == '1' and limit > 0 and own + tokens > limit - used - tokens then
    return {-1, own, own + math.max(math.floor((limit - used - own) / 2), 0), day}
  end
end
if limit > 0 and used + tokens > limit then return {0, used, limit, day} end
for i, key in ipairs(KEYS) do
  if i ~= 2 then
    redis.call('INCRBY', key, tokens)
    redis.call('EXPIRE', key, ARGV[5])
  end
end
return {1, used, limit, day}`)

// partAnonymous is the part of the day's tokens, in percent, after which visitors without
// a key get no more.
const partAnonymous = 80

// reserve counts the maximum cost of a call before it is made, so that concurrent
// calls cannot exceed the limits together. Without Redis no call is made.
func (b *budget) reserve(ctx context.Context, tokens int) (reservation, error) {
	if b.redis == nil {
		return reservation{}, nil // New allows no limit
	}
	owner := pace.Owner(ctx)
	ofKey, err := b.limitOf(ctx, owner)
	if err != nil {
		return reservation{}, fmt.Errorf("ai: budget of a key: %w", err)
	}
	day, resets := dayOf(b.now())
	r := reservation{day: day, owner: owner, tokens: tokens, ofKey: ofKey}
	part, half := 100, 0
	if pace.IsAnonymous(owner) { // the rest of the day is for keys, and for other networks
		part, half = partAnonymous, 1
	}
	keys := slices.Insert(r.keys(), 1, keyLimit(day))
	result, err := scriptReserve.Run(ctx, b.redis, keys, tokens, b.limit, ofKey, part, int(dayTTL.Seconds()), half).Int64Slice()
	if err != nil {
		return reservation{}, fmt.Errorf("ai: budget: %w", err)
	}
	if len(result) != 4 {
		return reservation{}, errors.New("ai: budget: Redis answers something else")
	}
	r.limit = result[3]
	exceeded := &BudgetError{Used: result[1], Limit: result[2], Resets: resets}
	switch result[0] {
	case 0:
		return reservation{}, exceeded
	case -1:
		exceeded.Key = owner
		return reservation{}, exceeded
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
