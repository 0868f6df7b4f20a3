package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// The two are in one slot of a Redis Cluster. Each holds when the calls so far are due
// at the rate, in seconds since 2017.
const (
	keyRate     = "rate:tra:rate"        // calls of all processes
	keyRateBulk = "{rate:tra:rate}:bulk" // those of them that are for batches
)

// Script takes tokens of one limit, or of both. KEYS: the limits. ARGV: the
// highest number of tokens, and for each limit the calls that it allows in a second
// and those that it allows at once. It returns how many it has taken; and when that
// is none, after how many ms there may be one.
var Script = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] - 1483228800 + clock[2] / 1000000
local n, due, wait = tonumber(ARGV[1]), {}, 0
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  due[i] = math.max(tonumber(redis.call('GET', key) or now), now)
  local free = burst - (due[i] - now) * rate
  n = math.min(n, math.floor(free + 0.000001))
  wait = math.max(wait, (1 - free) / rate)
end
if n < 1 then return {0, math.ceil(wait * 1000)} end
for i, key in ipairs(KEYS) do
  local after = due[i] + n / tonumber(ARGV[2 * i])
  redis.call('SET', key, string.format('%.6f', after), 'PX', math.ceil((after - now) * 1000))
end
return {n, 0}`)

// allow takes at most n tokens from Redis. A call for a batch needs one of both
// limits.
func (r *rateLimit) allow(ctx context.Context, bulk bool, n int) (allowed int, after time.Duration, _ error) {
	keys, args := []string{keyRate}, []any{n, r.perSecond, r.perSecond}
	if bulk {
		keys = append(keys, keyRateBulk)
		args = append(args, float64(r.perSecond)*bulkParts/rateParts, max(1, r.perSecond*bulkParts/rateParts))
	}
	reply, err := Script.Run(ctx, r.redis, keys, args...).Int64Slice()
	if err != nil || len(reply) != 2 { //nolint:mnd // as the script says
		return 0, 0, fmt.Errorf("throttle: rate limit: reply %v: %w", reply, err)
	}
	return int(reply[0]), max(time.Duration(reply[1])*time.Millisecond, time.Millisecond), nil
}
