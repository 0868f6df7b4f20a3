package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/lua"
)

// The jobs that need the same answer about a vehicle are a hash at asker:<vehicle>:
//
//	asker, until  the job that asks, and the end of its lease in ms
//	<job>         a job that waits, and the message that lets it go on
//	known         set for a while after the answer
func keyAsker(vehicle string) string { return "asker:" + vehicle }

const (
	// askerLease is how long a job is the asker unless it renews the lease.
	askerLease = time.Minute
	// askerTTL is how long the jobs that wait are remembered.
	askerTTL = 10 * time.Minute
	// knownTTL is for how long a job that did not find the answer a moment ago looks for
	// it again.
	knownTTL = 10 * time.Second
)

// AskResult is the result of Ask.
type AskResult int

// The results of Ask.
const (
	Joined       AskResult = iota // the job waits for another's answer
	Asker                         // the job asks
	JustAnswered                  // the answer is known by now
)

// scriptAsk makes a job the asker, renews its lease, or has it wait. ARGV: job, message
// of its step, lease and TTL in ms. It returns an AskResult.
var scriptAsk = redis.NewScript(lua.Clock + `
local asker, till = redis.call('HGET', KEYS[1], 'asker'), tonumber(redis.call('HGET', KEYS[1], 'until') or 0)
if redis.call('HEXISTS', KEYS[1], 'known') == 1 then return 2 end
local is = not asker or asker == ARGV[1] or till <= now
if is then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HSET', KEYS[1], 'asker', ARGV[1], 'until', now + ARGV[3])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return is and 1 or 0`)

// scriptAsked ends the wait for an asker, and returns the steps that have waited.
// ARGV: the asker that has failed, "" when the answer is known; knownTTL in ms.
var scriptAsked = redis.NewScript(`
if ARGV[1] ~= '' and (redis.call('HGET', KEYS[1], 'asker') or ARGV[1]) ~= ARGV[1] then return {} end
redis.call('HDEL', KEYS[1], 'asker', 'until', 'known')
local steps = redis.call('HVALS', KEYS[1])
redis.call('DEL', KEYS[1])
if ARGV[1] == '' then
  redis.call('HSET', KEYS[1], 'known', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return steps`)

// Ask makes a job the one that asks for a vehicle, or renews its lease, or has it wait
// for the one that does, with a message that StopAsking returns.
func (s *Store) Ask(ctx context.Context, vehicle, id, message string) (AskResult, error) {
	result, err := scriptAsk.Run(ctx, s.redis, []string{keyAsker(vehicle)},
		id, message, askerLease.Milliseconds(), askerTTL.Milliseconds()).Int()
	if err != nil {
		return 0, fmt.Errorf("jobs: ask: %w", err)
	}
	return AskResult(result), nil
}

// StopAsking ends the wait for the answer about a vehicle and returns the messages of
// the jobs that have waited, to one caller. failed is the asker that has no answer; ""
// when there is one.
func (s *Store) StopAsking(ctx context.Context, vehicle, failed string) (messages []string, err error) {
	messages, err = scriptAsked.Run(ctx, s.redis, []string{keyAsker(vehicle)}, failed, knownTTL.Milliseconds()).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("jobs: stop asking: %w", err)
	}
	return messages, nil
}
