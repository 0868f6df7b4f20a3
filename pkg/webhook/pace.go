package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// A receiver that is slow costs its owner only: an endpoint has at most two deliveries
// at once, one after it was slow, and none while it is paused. Over all endpoints
// the deliveries of a key take turns with those of others (Turns).
const (
	maxSending = 2
	// sendingLease is how long a delivery of a process that died counts.
	sendingLease = 2 * (attemptTimeout + writeTimeout)
	// defaultSlowAfter is how long a receiver may take that then fails, before it is
	// paused.
	defaultSlowAfter = 5 * time.Second
	// The pause doubles with each slow attempt.
	firstPause   = 15 * time.Second
	longestPause = time.Hour
	// slowMemory is how long a slow attempt is remembered.
	slowMemory = 24 * time.Hour
	// busyDelay is how long a delivery waits when its endpoint has as many as it may.
	busyDelay = time.Second
)

// scriptBegin counts a delivery that is sent now. KEYS: those of paceKeys. ARGV:
// delivery, maximum, lease in ms, delay in ms. It returns 0, or how long to wait.
var scriptBegin = redis.NewScript(redisx.LuaClock + `
local pause = redis.call('PTTL', KEYS[3])
if pause > 0 then return pause end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local most = tonumber(ARGV[2])
if redis.call('EXISTS', KEYS[2]) == 1 then most = 1 end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= most then return tonumber(ARGV[4]) end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 0
`)

// scriptEnd ends a delivery. KEYS: those of paceKeys. ARGV: delivery, 1 when the
// receiver was slow and -1 when it acknowledged, first and longest pause and memory of
// slow attempts in ms.
var scriptEnd = redis.NewScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] == '-1' then redis.call('DEL', KEYS[2]) end
if ARGV[2] ~= '1' then return 0 end
local n = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
local pause = math.min(ARGV[3] * 2 ^ (n - 1), tonumber(ARGV[4]))
redis.call('SET', KEYS[3], n, 'PX', string.format('%d', pause))
return n
`)

func paceKeys(d Delivery) []string {
	of := keyLog(d.Owner, d.Endpoint)
	return []string{of + ":sending", of + ":slow", of + ":paused"}
}

// begin counts a delivery that is sent now. It returns 0, or how long to wait, and
// then the delivery is not counted.
func (s *Store) begin(ctx context.Context, d Delivery) (time.Duration, error) {
	wait, err := scriptBegin.Run(ctx, s.redis, paceKeys(d), d.ID, maxSending, sendingLease.Milliseconds(),
		busyDelay.Milliseconds()).Int64()
	if err != nil {
		return 0, fmt.Errorf("webhook: begin delivery: %w", err)
	}
	return time.Duration(wait) * time.Millisecond, nil
}

// end ends a delivery that begin counted. A failure is harmless: the count is a lease.
func (s *Store) end(ctx context.Context, d Delivery, attempt Attempt, slowAfter time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	outcome := 0
	switch {
	case attempt.Error == "" && attempt.Status > 0:
		outcome = -1
	case attempt.Millis >= slowAfter.Milliseconds():
		outcome = 1
	}
	_ = scriptEnd.Run(ctx, s.redis, paceKeys(d), d.ID, outcome, firstPause.Milliseconds(), longestPause.Milliseconds(),
		slowMemory.Milliseconds()).Err()
}
