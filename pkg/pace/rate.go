package pace

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Limit is how often something may be done, over all processes.
type Limit struct {
	// Key names what is limited. Limits that are taken together have the same hash tag.
	Key   string
	Rate  float64 // a second
	Burst int     // at once
}

// PerMinute is what an API key may request in a minute. Each number has its own count: what
// remains of one means nothing to another.
func PerMinute(key string, n int) Limit {
	return Limit{Key: fmt.Sprintf("rate:key:%s:%d", key, n), Rate: float64(n) / time.Minute.Seconds(), Burst: n}
}

// Policy is a limit as its headers name it: so much in a window.
type Policy struct {
	Name   string
	Quota  int
	Window time.Duration
}

// SetHeaders says what a caller has left of a limit: in the two headers of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10), and in the three of its early versions.
func (p Policy) SetHeaders(h http.Header, left Allowance) {
	reset := int(math.Ceil(left.Reset.Seconds()))
	h.Set("Ratelimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, p.Name, p.Quota, int(p.Window.Seconds())))
	h.Set("Ratelimit", fmt.Sprintf(`"%s";r=%d;t=%d`, p.Name, left.Remaining, reset))
	h.Set("Ratelimit-Limit", strconv.Itoa(p.Quota))
	h.Set("Ratelimit-Remaining", strconv.Itoa(left.Remaining))
	h.Set("Ratelimit-Reset", strconv.Itoa(reset))
}

// Allowance is the outcome of Take.
type Allowance struct {
	Allowed    bool
	Remaining  int           // of the limit that has least left
	Reset      time.Duration // until all of that is left again
	RetryAfter time.Duration // 0 when it is allowed
}

// Rates count in Redis, so that all processes share the counts. It is the generic cell rate
// algorithm (ITU-T I.371): of each limit the time is stored at which what was done so far
// is due at its rate.
type Rates struct{ redis redis.UniversalClient }

// NewRates returns the rates on a Redis connection, which the caller closes.
func NewRates(client redis.UniversalClient) *Rates { return &Rates{client} }

// scriptTakeRate takes one of each limit, or none of any. KEYS: the limits. ARGV: for each its
// rate a second and its burst. It returns 1 when it has, what remains, and after how many
// milliseconds there is one more, and all. Times are in seconds since 2017, so that a
// double holds their microseconds.
var scriptTakeRate = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] - 1483228800 + clock[2] / 1000000
local due, left, wait, reset = {}, nil, 0, 0
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  due[i] = math.max(tonumber(redis.call('GET', key) or now), now)
  local free = burst - (due[i] - now) * rate - 1
  wait = math.max(wait, -free / rate)
  if not left or free < left then
    left, reset = free, due[i] - now + 1 / rate
    if free < -0.000001 then reset = due[i] - now end
  end
end
if left < -0.000001 then return {0, 0, math.max(math.ceil(wait * 1000), 1), math.ceil(reset * 1000)} end
for i, key in ipairs(KEYS) do
  local after = due[i] + 1 / tonumber(ARGV[2 * i - 1])
  redis.call('SET', key, string.format('%.6f', after), 'PX', math.ceil((after - now) * 1000))
end
return {1, math.floor(left + 0.000001), 0, math.ceil(reset * 1000)}`)

// Take does something once, if all limits allow it; else it counts against none of them.
func (r *Rates) Take(ctx context.Context, limits ...Limit) (Allowance, error) {
	keys, args := make([]string, len(limits)), make([]any, 0, 2*len(limits))
	for i, limit := range limits {
		keys[i] = limit.Key
		args = append(args, limit.Rate, limit.Burst)
	}
	reply, err := scriptTakeRate.Run(ctx, r.redis, keys, args...).Int64Slice()
	if err != nil || len(reply) != 4 { //nolint:mnd // as the script says
		return Allowance{}, fmt.Errorf("pace: rate: reply %v: %w", reply, err)
	}
	return Allowance{
		Allowed: reply[0] == 1, Remaining: int(reply[1]),
		RetryAfter: time.Duration(reply[2]) * time.Millisecond, Reset: time.Duration(reply[3]) * time.Millisecond,
	}, nil
}
