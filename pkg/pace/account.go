package pace

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// EntryOverhead is what Redis needs for a key or a field beside its value, in bytes.
const EntryOverhead = 200

// What owners have accounts of; the beginnings of keys in Redis.
const (
	KindBytes  = "bytes:{"     // that are kept for an API key or a network
	KindJobs   = "running:{"   // of a key or a network, without those of batches
	KindRows   = "rows:{"      // of batches that are about to be created for a key
	KindTokens = "ai:tokens:{" // of a day
)

// Accounts have what each holder has of one kind, and keep it within a limit: it is reserved
// (Take) before the work, and settled afterwards (Change). An account is one hash.
// A field is either an hour since 1970, with what expires until then, or the name of
// one thing, with its size and its expiry in ms. So what a process has reserved that is
// killed falls back by itself, and no error adds up.
type Accounts struct {
	redis redis.UniversalClient
	kind  string
}

// NewAccounts returns the accounts of a kind on a Redis connection, which the caller closes.
func NewAccounts(client redis.UniversalClient, kind string) *Accounts { return &Accounts{client, kind} }

const (
	// accountTTL is longer than anything is kept that counts.
	accountTTL = 130 * 24 * time.Hour
	// Things that are kept for longer than fineTTL are accounted for by the day. Only bytes are.
	fineTTL = 48 * time.Hour
)

// ttl is how long an account is kept after its last change.
func (a *Accounts) ttl() time.Duration {
	if a.kind == KindBytes {
		return accountTTL
	}
	return fineTTL
}

// Holder has an account. It may be a part of the whole that several have together, such as a
// visitor of a network, and has then an account beside that of the whole.
type Holder struct {
	Whole string
	Part  string // "" for the whole alone
}

// keys returns the keys of a holder's accounts, which are in one slot: of the whole, and of the
// part.
func (a *Accounts) keys(of Holder) []string {
	whole := a.kind + of.Whole + "}"
	if of.Part == "" {
		return []string{whole}
	}
	return []string{whole, whole + ":" + of.Part}
}

// Within is what a holder may have; 0 is no limit.
type Within struct {
	Whole int64
	Part  int64
	// Half leaves something to others: a part that has something gets more only up to
	// as much as is left then of the whole.
	Half bool
}

// Kept is something that a holder has.
type Kept struct {
	Size int64         // bytes, tokens or pieces
	TTL  time.Duration // until it expires
	// Name is that of one thing whose size may change or which may be deleted early,
	// as "batch:<id>"; "" adds to what expires at the same time.
	Name string
}

// Promised begins the names of room that is promised and not yet used.
const Promised = "promised/"

// Account is what a holder has.
type Account struct {
	Used     int64 // with what is promised
	Limit    int64 // 0 means no limit
	Promised int64 // for what is not there yet
	// Free is when the next thing expires; zero when nothing is there.
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

// Left returns how much more may be kept; the largest number without a limit.
func (a Account) Left() int64 {
	if a.Limit <= 0 {
		return math.MaxInt64
	}
	return max(a.Limit-a.Used, 0)
}

// scriptAccount reads the accounts of a holder, deletes what has expired, and changes them all
// unless one exceeds its limit. KEYS: of the whole, and of the part, if there is one. ARGV: "take",
// or "change", which refuses nothing; TTL of the accounts in ms; 1 for Half; the limit of the whole
// and of the part, 0 for none; name, size and TTL in ms of each thing. The size "" of a
// name keeps the one that it has, and one below zero takes that from it; a name without size is
// deleted. Without a name a size below zero takes back what was added. The limit is stored only of
// bytes, of the whole: any other account is gone with the last thing in it. The reply is the number
// of the key that refuses, or 0, and of each key what is used,
// the limit, when the next expires, and what is promised.
var scriptAccount = redis.NewScript(redisx.LuaClock + `
local accounts, refused = {}, 0
for i, key in ipairs(KEYS) do
  local account = {used = 0, free = 0, limit = 0, promised = 0, sizes = {}}
  local all = redis.call('HGETALL', key)
  for j = 1, #all, 2 do
    local size, expires = string.match(all[j + 1], '^(%d+) (%d+)$')
    if not size then size, expires = all[j + 1], (tonumber(all[j]) or 0) * 3600000 end --
    size, expires = tonumber(size), tonumber(expires)
    if all[j] == 'limit' then
      account.limit = size or 0
    elseif not size or not expires or expires <= now then
      redis.call('HDEL', key, all[j])
    else
      account.used = account.used + size
      account.sizes[all[j]] = {size, expires}
      if string.sub(all[j], 1, 9) == 'promised/' then account.promised = account.promised + size end --
      if size > 0 and (account.free == 0 or expires < account.free) then account.free = expires end --
    end
  end
  if ARGV[1] == 'take' then account.limit = tonumber(ARGV[3 + i]) end
  accounts[i] = account
end
local want, promised = 0, 0
for i = 6, #ARGV, 3 do
  local size = tonumber(ARGV[i + 1])
  local has = ARGV[i] ~= '' and accounts[1].sizes[ARGV[i]]
  if size and (size >= 0 or ARGV[i] == '') then
    if has then size = size - has[1] end
  elseif has then
    size = math.max(size or 0, -has[1])
  else
    size = 0
  end
  want = want + size
  if string.sub(ARGV[i], 1, 9) == 'promised/' then promised = promised + size end --
end
if ARGV[1] == 'take' then
  local whole, part = accounts[1], accounts[2]
  if part and part.limit > 0 and part.used + want > part.limit then refused = 2 end
  if part and refused == 0 and ARGV[3] == '1' and whole.limit > 0 and part.used > 0
    and part.used + want > whole.limit - whole.used - want then
    refused, part.limit = 2, math.max(math.floor((whole.limit - whole.used + part.used) / 2), part.used)
  end
  if refused == 0 and whole.limit > 0 and whole.used + want > whole.limit then refused = 1 end
end
for i, key in ipairs(KEYS) do
  if refused > 0 then break end
  accounts[i].used, accounts[i].promised = accounts[i].used + want, accounts[i].promised + promised
  if ARGV[1] == 'take' and i == 1 and string.find(key, '` + KindBytes + `', 1, true) then
    redis.call('HSET', key, 'limit', ARGV[4])
  end
  for j = 6, #ARGV, 3 do
    local name, size, expires = ARGV[j], tonumber(ARGV[j + 1]), now + ARGV[j + 2]
    local has = accounts[i].sizes[name]
    if not size then
      size = has and has[1]
    elseif size < 0 and name ~= '' then
      size, expires = has and math.max(has[1] + size, 0), has and has[2]
    end
    if name == '' then
      local step = 1
      if tonumber(ARGV[j + 2]) > 172800000 then step = 24 end
      redis.call('HINCRBY', key, string.format('%.0f', math.ceil(expires / 3600000 / step) * step), size)
    elseif size == 0 then
      redis.call('HDEL', key, name)
    elseif size then
      redis.call('HSET', key, name, string.format('%.0f %.0f', size, expires))
    end
  end
  if #ARGV > 5 then redis.call('PEXPIRE', key, ARGV[2]) end
end
local reply = {refused}
for _, account in ipairs(accounts) do
  for _, n in ipairs({account.used, account.limit, account.free, account.promised}) do reply[#reply + 1] = n end
end
return reply
`)

// countedFor returns how long something counts that is kept: what visitors cause counts for a day,
// because many share a network.
func countedFor(id string, ttl time.Duration) time.Duration {
	if IsAnonymous(id) {
		return min(ttl, 24*time.Hour)
	}
	return ttl
}

// Balance is what a holder has, and the whole of which that is a part.
type Balance struct {
	Whole, Part Account // the second is zero without a part
	// Refused says that nothing was taken, and OfPart that the part has too much.
	Refused, OfPart bool
}

// run runs the script.
func (a *Accounts) run(ctx context.Context, of Holder, what string, within Within, things []Kept) (b Balance, err error) {
	half := 0
	if within.Half {
		half = 1
	}
	args := append(make([]any, 0, 5+3*len(things)), what, a.ttl().Milliseconds(), half, within.Whole, within.Part)
	for _, kept := range things {
		var size any = kept.Size
		if kept.Size == keepsSize {
			size = ""
		}
		args = append(args, kept.Name, size, countedFor(of.Whole, kept.TTL).Milliseconds())
	}
	const each = 4 // numbers of an account
	keys := a.keys(of)
	reply, err := scriptAccount.Run(ctx, a.redis, keys, args...).Int64Slice()
	if err != nil || len(reply) != 1+each*len(keys) {
		return b, fmt.Errorf("pace: account %s…: reply %v: %w", a.kind, reply, err)
	}
	account := func(reply []int64) Account {
		return Account{Used: reply[0], Limit: reply[1], Free: millis(reply[2]), Promised: reply[3]}
	}
	b = Balance{Whole: account(reply[1:]), Refused: reply[0] > 0, OfPart: reply[0] == 2} //nolint:mnd // the second key
	if of.Part != "" {
		b.Part = account(reply[1+each:])
	}
	return b, nil
}

// TakeFor reserves things for a holder, or accounts for them, unless the holder would then have
// more than that. A thing replaces the one of its name.
func (a *Accounts) TakeFor(ctx context.Context, of Holder, within Within, things ...Kept) (Balance, error) {
	return a.run(ctx, of, "take", within, things)
}

// Take does what TakeFor does, for a whole; 0 is no limit.
func (a *Accounts) Take(ctx context.Context, id string, limit int64, things ...Kept) (Account, bool, error) {
	b, err := a.TakeFor(ctx, Holder{Whole: id}, Within{Whole: limit}, things...)
	return b.Whole, err == nil && !b.Refused, err
}

// Settle accounts for what has become of a reservation, whatever the limit: things are added,
// and one with a size below zero is so much less than before.
func (a *Accounts) Settle(ctx context.Context, of Holder, things ...Kept) (Balance, error) {
	return a.run(ctx, of, "change", Within{}, things)
}

// Read returns the account of a holder; of bytes with the limit as of the last Take.
func (a *Accounts) Read(ctx context.Context, of Holder) (Account, error) {
	b, err := a.Settle(ctx, of)
	if of.Part != "" {
		return b.Part, err
	}
	return b.Whole, err
}

// Names returns the names of what a holder has.
func (a *Accounts) Names(ctx context.Context, of Holder) (names []string, err error) {
	for _, key := range a.keys(of) {
		fields, err := a.redis.HKeys(ctx, key).Result()
		if err != nil {
			return nil, fmt.Errorf("pace: account %s…: %w", a.kind, err)
		}
		names = append(names, fields...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == fieldLimit }), nil
}

// fieldLimit has the limit as of the last Take.
const fieldLimit = "limit"

// keepsSize is the size of a thing whose expiry alone changes.
const keepsSize = math.MinInt64

// Expire sets when a named thing expires, if it is there.
func (a *Accounts) Expire(ctx context.Context, id, name string, ttl time.Duration) error {
	_, err := a.Settle(ctx, Holder{Whole: id}, Kept{Name: name, Size: keepsSize, TTL: ttl})
	return err
}

// Forget removes named things from the accounts of a holder. It may run twice.
func (a *Accounts) Forget(ctx context.Context, of Holder, names ...string) error {
	for _, key := range a.keys(of) {
		if err := a.redis.HDel(ctx, key, names...).Err(); err != nil {
			return fmt.Errorf("pace: account %s…: %w", a.kind, err)
		}
	}
	return nil
}

// bytesOf is the account of the bytes of an owner, whom a pipeline changes beside other keys.
func bytesOf(id string) string { return (&Accounts{kind: KindBytes}).keys(Holder{Whole: id})[0] }

// ForgetIn forgets bytes under a name, in a pipeline.
func ForgetIn(ctx context.Context, pipe redis.Cmdable, id, name string) {
	pipe.HDel(ctx, bytesOf(id), name)
}

// AddTo accounts for bytes that are kept, whatever the limit, in a pipeline. The hour is by
// the clock of this process.
func AddTo(ctx context.Context, pipe redis.Cmdable, id string, size int64, ttl time.Duration) {
	if id == "" {
		return // of no key: the demo, a benchmark
	}
	step, ttl := time.Hour, countedFor(id, ttl)
	if ttl > fineTTL {
		step = 24 * time.Hour
	}
	hour := int64(math.Ceil(float64(time.Now().Add(ttl).UnixMilli())/float64(step.Milliseconds()))) * int64(step/time.Hour)
	pipe.HIncrBy(ctx, bytesOf(id), strconv.FormatInt(hour, 10), size)
	pipe.Expire(ctx, bytesOf(id), accountTTL)
}

func millis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
