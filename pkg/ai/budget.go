package ai

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/localtime"
	"ushuru/pkg/pace"
)

// tokensOf are the tokens that all processes use or have reserved: the accounts of days, and in
// each those of API keys and of the networks of visitors.
func tokensOf(client redis.UniversalClient) *pace.Accounts {
	return pace.NewAccounts(client, pace.KindTokens)
}

// dayOf returns the name of a day, and when it ends.
func dayOf(now time.Time) (day string, resets time.Time) {
	now = now.In(localtime.Zone)
	year, month, date := now.Date()
	return now.Format(time.DateOnly), time.Date(year, month, date+1, 0, 0, 0, 0, localtime.Zone)
}

// keyLimit is the key of the limit that an operator has set for a day.
func keyLimit(day string) string { return "ai:limit:" + day }

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
func ReadBudget(ctx context.Context, client redis.UniversalClient, daily int64, now time.Time) (b DayBudget, err error) {
	day, resets := dayOf(now)
	b.Resets = resets
	if b.Limit, b.Set, err = limitOn(ctx, client, day, daily); err != nil {
		return b, err
	}
	account, err := tokensOf(client).Read(ctx, pace.Holder{Whole: day})
	b.Used = account.Used
	return b, err
}

// limitOn returns the limit of a day, and whether an operator has set it.
func limitOn(ctx context.Context, client redis.UniversalClient, day string, daily int64) (limit int64, set bool, err error) {
	limit, err = client.Get(ctx, keyLimit(day)).Int64()
	switch {
	case errors.Is(err, redis.Nil):
		return daily, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("ai: budget: %w", err)
	}
	return limit, true, nil
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
	account, err := tokensOf(client).Read(ctx, pace.Holder{Whole: day, Part: owner})
	return account.Used, resets, err
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

// reservation is what a call may use at most, on the day on which it began.
type reservation struct {
	name   string
	of     pace.Holder // the owner within the day
	within pace.Within
}

const (
	// partAnonymous is the part of the day's tokens, in percent, after which visitors without
	// a key get no more.
	partAnonymous = 80
	// reservedFor is how long tokens are reserved beyond the time of a call. Those of a
	// process that was killed are free afterwards.
	reservedFor = time.Minute
)

// reserve counts the maximum cost of a call before it is made, so that concurrent
// calls cannot exceed the limits together. Without Redis no call is made.
func (b *budget) reserve(ctx context.Context, tokens int, timeout time.Duration) (r reservation, err error) {
	if b.redis == nil {
		return r, nil // New allows no limit
	}
	owner := pace.Owner(ctx)
	day, resets := dayOf(b.now())
	r = reservation{name: rand.Text(), of: pace.Holder{Whole: day, Part: owner}}
	if owner != "" && b.ofKey != nil {
		if r.within.Part, err = b.ofKey(ctx, owner); err != nil {
			return r, fmt.Errorf("ai: budget of a key: %w", err)
		}
	}
	if r.within.Whole, _, err = limitOn(ctx, b.redis, day, b.limit); err != nil {
		return r, err
	}
	within := r.within
	if pace.IsAnonymous(owner) { // the rest of the day is for keys, and for other networks
		within.Half = true
		if within.Whole > 0 { // at least one token, since 0 is no limit
			within.Whole = max(1, within.Whole*partAnonymous/100)
		}
	}
	reserved := pace.Kept{Name: r.name, Size: int64(tokens), TTL: timeout + reservedFor}
	now, err := tokensOf(b.redis).TakeFor(ctx, r.of, within, reserved)
	switch {
	case err != nil:
		return r, fmt.Errorf("ai: budget: %w", err)
	case now.OfPart:
		return r, &BudgetError{Used: now.Part.Used, Limit: now.Part.Limit, Resets: resets, Key: owner}
	case now.Refused:
		return r, &BudgetError{Used: now.Whole.Used, Limit: now.Whole.Limit, Resets: resets}
	}
	return r, nil
}

// settle replaces the reservation by the actual use, and logs when a half or four
// fifths of a limit are used.
func (b *budget) settle(ctx context.Context, r reservation, used int) error {
	if r.name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	now, err := tokensOf(b.redis).Settle(ctx, r.of,
		pace.Kept{Name: r.name}, pace.Kept{Size: int64(used), TTL: dayTTL})
	if err != nil {
		return err
	}
	b.warn(ctx, "the AI's tokens of this day are going down", r.of.Whole, "", now.Whole.Used, r.within.Whole)
	if r.of.Part != "" {
		const ofKey = "the AI's tokens of an API key of this day are going down"
		b.warn(ctx, ofKey, r.of.Whole, r.of.Part, now.Part.Used, r.within.Part)
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
