package pace

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// EntryOverhead is what Redis needs for a key or a field beside its value, in bytes.
const EntryOverhead = 200

// Bytes accounts for what each API key causes to be kept in Redis. The account of a
// key is one hash. A field is either an hour since 1970, with the bytes that expire
// until then, or the name of one thing, with its bytes and its expiry in ms. So a
// process that is killed between keeping something and accounting for it causes an
// error that ends when that thing expires, and no error adds up.
type Bytes struct{ redis redis.UniversalClient }

// NewBytes returns accounts on a Redis connection, which the caller closes.
func NewBytes(client redis.UniversalClient) *Bytes { return &Bytes{client} }

func keyBytes(id string) string { return "bytes:{" + id + "}" }

const (
	// accountTTL is longer than anything is kept that counts.
	accountTTL = 130 * 24 * time.Hour
	// Things that are kept for longer than fineTTL are accounted for by the day.
	fineTTL = 48 * time.Hour
)

// Kept is something that a key causes to be kept.
type Kept struct {
	Size int64         // bytes
	TTL  time.Duration // until it expires
	// Name is that of one thing whose size may change or which may be deleted early,
	// as "batch:<id>"; "" adds to what expires at the same time.
	Name string
}

// Promised begins the names of room that is promised and not yet used.
const Promised = "promised/"

// Account is what a key causes to be kept.
type Account struct {
	Used     int64 // bytes, with those that are promised
	Limit    int64 // 0 means no limit
	Promised int64 // bytes for what is not kept yet
	// Free is when the next bytes expire; zero when nothing is kept.
	Free time.Time
}

// Header returns the account as a header has it.
func (a Account) Header() string {
	if a.Limit > 0 {
		return fmt.Sprintf("used=%d, limit=%d", a.Used, a.Limit)
	}
	return fmt.Sprintf("used=%d", a.Used)
}

// Full reports whether no more may be kept, although it was promised.
func (a Account) Full() bool { return a.Limit > 0 && a.Used-a.Promised >= a.Limit }

// Left returns how many bytes may still be kept; the largest number without a limit.
func (a Account) Left() int64 {
	if a.Limit <= 0 {
		return math.MaxInt64
	}
	return max(a.Limit-a.Used, 0)
}

// scriptAccount reads an account, deletes what has expired, and accounts for things unless they
// exceed the limit. ARGV: limit, 0 for none, or "" to leave it as it is and to
// refuse nothing; TTL of the account in ms; name, size and TTL in ms of each thing. A
// thing with the size "" keeps the size that it has in the account, if it is there. The reply is
// 1 when the things are accounted for, the bytes used, the limit, when the next bytes
// expire, and the bytes promised.
var scriptAccount = redis.NewScript(redisx.LuaClock + `
local used, free, limit, promised = 0, 0, 0, 0
local sizes = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local size, expires = string.match(all[i + 1], '^(%d+) (%d+)$')
  if not size then size, expires = all[i + 1], (tonumber(all[i]) or 0) * 3600000 end --
  size, expires = tonumber(size), tonumber(expires)
  if all[i] == 'limit' then
    limit = size
  elseif expires <= now then
    redis.call('HDEL', KEYS[1], all[i])
  else
    used = used + size
    sizes[all[i]] = size
    if string.sub(all[i], 1, 9) == 'promised/' then promised = promised + size end --
    if size > 0 and (free == 0 or expires < free) then free = expires end --
  end
end
if ARGV[1] ~= '' then
  limit = tonumber(ARGV[1])
  local want = 0
  for i = 3, #ARGV, 3 do
    local has = ARGV[i] ~= '' and sizes[ARGV[i]] or 0
    local more = tonumber(ARGV[i + 1]) - has
    want = want + more
    if string.sub(ARGV[i], 1, 9) == 'promised/' then promised = promised + more end --
  end
  if limit > 0 and used + want > limit then return {0, used, limit, free, 0} end
  used = used + want
  redis.call('HSET', KEYS[1], 'limit', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
for i = 3, #ARGV, 3 do
  local name, size, ttl = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  if size == '' then size = string.match(redis.call('HGET', KEYS[1], name) or '', '^%d+') end
  if size and name ~= '' then
    redis.call('HSET', KEYS[1], name, string.format('%.0f %.0f', tonumber(size), now + ttl))
  elseif size then
    local step = 1
    if ttl > 172800000 then step = 24 end
    local hour = math.ceil((now + ttl) / 3600000 / step) * step
    redis.call('HINCRBY', KEYS[1], string.format('%.0f', hour), size)
  end
end
return {1, used, limit, free, promised}
`)

// countedFor returns how long something counts that is kept: what visitors cause counts for a day,
// because many share a network.
func countedFor(id string, ttl time.Duration) time.Duration {
	if IsAnonymous(id) {
		return min(ttl, 24*time.Hour)
	}
	return ttl
}

// account runs the script.
func (b *Bytes) account(ctx context.Context, id string, args ...any) (Account, bool, error) {
	reply, err := scriptAccount.Run(ctx, b.redis, []string{keyBytes(id)}, args...).Int64Slice()
	if err != nil || len(reply) != 5 { //nolint:mnd // as the script says
		return Account{}, false, fmt.Errorf("pace: account: reply %v: %w", reply, err)
	}
	return Account{Used: reply[1], Limit: reply[2], Free: millis(reply[3]), Promised: reply[4]}, reply[0] == 1, nil
}

// Take accounts for things that a key wants to be kept, unless with them the key would
// have more than its limit; 0 is no limit. A thing replaces the one of its name.
func (b *Bytes) Take(ctx context.Context, id string, limit int64, things ...Kept) (Account, bool, error) {
	args := append(make([]any, 0, 2+3*len(things)), limit, accountTTL.Milliseconds())
	for _, kept := range things {
		args = append(args, kept.Name, kept.Size, countedFor(id, kept.TTL).Milliseconds())
	}
	return b.account(ctx, id, args...)
}

// Read returns the account of a key, with the limit as of the last Take.
func (b *Bytes) Read(ctx context.Context, id string) (Account, error) {
	account, _, err := b.account(ctx, id, "")
	return account, err
}

// Expire sets when a named thing expires, if it is in the account of a key.
func (b *Bytes) Expire(ctx context.Context, id, name string, ttl time.Duration) error {
	_, _, err := b.account(ctx, id, "", 0, name, "", ttl.Milliseconds())
	return err
}

// Forget removes named things from the account of a key. It may run twice.
func (b *Bytes) Forget(ctx context.Context, id string, names ...string) error {
	if err := b.redis.HDel(ctx, keyBytes(id), names...).Err(); err != nil {
		return fmt.Errorf("pace: account: %w", err)
	}
	return nil
}

// ForgetIn does what Forget does, in a pipeline.
func ForgetIn(ctx context.Context, pipe redis.Cmdable, id, name string) {
	pipe.HDel(ctx, keyBytes(id), name)
}

// Add accounts for something without a name that is kept, whatever the limit.
func (b *Bytes) Add(ctx context.Context, id string, size int64, ttl time.Duration) error {
	_, err := b.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		AddTo(ctx, pipe, id, size, ttl)
		return nil
	})
	if err != nil {
		return fmt.Errorf("pace: account: %w", err)
	}
	return nil
}

// AddTo does what Add does, in a pipeline. The hour is by the clock of this process.
func AddTo(ctx context.Context, pipe redis.Cmdable, id string, size int64, ttl time.Duration) {
	if id == "" {
		return // of no key: the demo, a benchmark
	}
	pipe.HIncrBy(ctx, keyBytes(id), hourAfter(countedFor(id, ttl)), size)
	pipe.Expire(ctx, keyBytes(id), accountTTL)
}

// hourAfter returns the hour in which expires what is kept for a time from now.
func hourAfter(ttl time.Duration) string {
	step := time.Hour
	if ttl > fineTTL {
		step = 24 * time.Hour
	}
	hour := int64(math.Ceil(float64(time.Now().Add(ttl).UnixMilli())/float64(step.Milliseconds()))) * int64(step/time.Hour)
	return strconv.FormatInt(hour, 10)
}

// scriptSettle accounts for what is kept and takes its room from a promise. ARGV: the hour
// and the size of what is kept, the name of the promise, the room.
var scriptSettle = redis.NewScript(`
redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2])
local size, expires = string.match(redis.call('HGET', KEYS[1], ARGV[3]) or '', '^(%d+) (%d+)$')
if size then
  redis.call('HSET', KEYS[1], ARGV[3], string.format('%.0f %s', math.max(tonumber(size) - tonumber(ARGV[4]), 0), expires))
end
return 0
`)

// Settle accounts for something that is kept, and takes its room from what was promised
// under a name.
func (b *Bytes) Settle(ctx context.Context, id string, kept Kept, promise string, room int64) error {
	hour := hourAfter(countedFor(id, kept.TTL))
	err := scriptSettle.Run(ctx, b.redis, []string{keyBytes(id)}, hour, kept.Size, promise, room).Err()
	if err != nil {
		return fmt.Errorf("pace: account: %w", err)
	}
	return nil
}

func millis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
