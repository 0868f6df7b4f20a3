package pace

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// Turns are the places of all workers of a queue, which the owners of its tasks
// share. A task that has a place is in the queue or runs; the others wait, each
// owner's in their order. The parts of an owner (PartOf) have its places together, and wait
// in turns. State is in Redis, so that all processes share it, and
// every place is a lease: that of a process that died expires.
//
//	turns:{<queue>}:offers            places of each worker, and until when
//	turns:{<queue>}:taken             tasks that have a place, by the end of the lease
//	turns:{<queue>}:owners            owner of each task in taken
//	turns:{<queue>}:counts            how many places each owner has
//	turns:{<queue>}:line              owners whose tasks wait, by when they were served
//	turns:{<queue>}:line:<owner>      their tasks, by when they came
type Turns struct{ redis redis.UniversalClient }

// NewTurns returns Turns on a Redis connection, which the caller closes.
func NewTurns(client redis.UniversalClient) *Turns { return &Turns{client} }

const (
	// OfferInterval is how often a worker says how many places it has.
	OfferInterval = 5 * time.Second
	// offers is how many offers of a worker may fail before its places do not count.
	offers = 3
	// queueLease is how long a task keeps its place in the queue: as long as a person
	// waits at most. A worker that runs the task renews it.
	queueLease = 10 * time.Minute
)

func keysOf(queue string) []string {
	prefix := "turns:{" + queue + "}:"
	return []string{prefix + "offers", prefix + "taken", prefix + "owners", prefix + "counts", prefix + "line"}
}

// scriptTurns takes and gives places. KEYS: those of keysOf. ARGV[1] says what it does, and the
// reply is the list of the tasks that have a place now:
//
//	enter, owner, task, lease, memory   takes a place for the task, or lets it wait
//	leave, owner, task, lease           gives its place back
//	offer, worker, places, until, lease says how many places a worker has
//
// Lease, memory (how long owners who wait are remembered) and until are in ms from now.
var scriptTurns = redis.NewScript(redisx.LuaClock + `
local offers, taken, owners, counts, line = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local function drop(task)
  if redis.call('ZREM', taken, task) == 0 then return end
  local owner = redis.call('HGET', owners, task)
  redis.call('HDEL', owners, task)
  if owner and redis.call('HINCRBY', counts, owner, -1) <= 0 then redis.call('HDEL', counts, owner) end
end
for _, task in ipairs(redis.call('ZRANGEBYSCORE', taken, '-inf', now, 'LIMIT', 0, 1000)) do drop(task) end
local function places()
  local live, last = 0, 0
  local all = redis.call('HGETALL', offers)
  for i = 1, #all, 2 do
    local n, till = string.match(all[i + 1], '(%d+) (%d+)')
    if tonumber(till) > now then live = live + n else last = math.max(last, n) end
    if tonumber(till) < now - 3600000 then redis.call('HDEL', offers, all[i]) end
  end
  if live > 0 then return live end
  return last
end
local total = places()
local function whole(owner) return (string.match(owner, '^[^#]*')) end
local function admits(part)
  local owner = whole(part)
  if total == 0 then return true end -- no worker has ever said how many places there are
  local has = tonumber(redis.call('HGET', counts, owner) or 0)
  local free = total - redis.call('ZCARD', taken)
  if has > 0 and free < 2 then return false end
  local weight = 2
  if owner == 'anonymous' or string.sub(owner, 1, 10) == 'anonymous@' then weight = 0.5 end
  return has < weight * free
end
local function take(part, task, lease)
  local owner = whole(part)
  redis.call('ZADD', taken, now + lease, task)
  redis.call('HSET', owners, task, owner)
  redis.call('HINCRBY', counts, owner, 1)
end
local function forget(owner, task)
  redis.call('ZREM', line .. ':' .. owner, task)
  if redis.call('EXISTS', line .. ':' .. owner) == 0 then redis.call('ZREM', line, owner) end
end
local function nextOwner()
  for _, owner in ipairs(redis.call('ZRANGE', line, 0, -1)) do
    if redis.call('EXISTS', line .. ':' .. owner) == 0 then
      redis.call('ZREM', line, owner)
    elseif admits(owner) then return owner end
  end
end
local function behindAll() -- also behind an owner who was served in this millisecond
  return math.max(now, (redis.call('ZRANGE', line, -1, -1, 'WITHSCORES')[2] or 0) + 0.001)
end
local function serve(lease)
  local served = {}
  while #served < 200 do
    local owner = nextOwner()
    if not owner then break end
    local task = redis.call('ZRANGE', line .. ':' .. owner, 0, 0)[1]
    redis.call('ZADD', line, behindAll(), owner)
    forget(owner, task)
    if not redis.call('ZSCORE', taken, task) then
      take(owner, task, lease)
      served[#served + 1] = task
    end
  end
  return served
end
if ARGV[1] == 'offer' then
  if tonumber(ARGV[3]) > 0 then
    redis.call('HSET', offers, ARGV[2], ARGV[3] .. ' ' .. now + ARGV[4])
  else
    redis.call('HDEL', offers, ARGV[2])
  end
  total = places()
  return serve(ARGV[5])
end
local owner, task, lease = ARGV[2], ARGV[3], tonumber(ARGV[4])
if ARGV[1] == 'leave' then
  drop(task)
  if owner ~= '' then forget(owner, task) end
  return serve(lease)
end
if redis.call('ZSCORE', taken, task) then
  redis.call('ZADD', taken, 'XX', now + lease, task)
  return {task}
end
if admits(owner) then
  forget(owner, task)
  take(owner, task, lease)
  return {task}
end
redis.call('ZADD', line .. ':' .. owner, 'NX', now, task)
redis.call('PEXPIRE', line .. ':' .. owner, ARGV[5])
redis.call('ZADD', line, 'NX', 0, owner)
return {}
`)

// run runs the script.
func (t *Turns) run(ctx context.Context, queue, what string, args ...any) (ready []string, err error) {
	ready, err = scriptTurns.Run(ctx, t.redis, keysOf(queue), append([]any{what}, args...)...).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("pace: %s: %w", what, err)
	}
	return ready, nil
}

// Enter takes a place for a task of an owner, or renews it, for as long as lease; 0
// is the time in the queue. When it reports false the task waits: Leave or Offer of
// any process returns it once it has a place. A task may wait for several owners: it
// runs when the first of them may have a place.
func (t *Turns) Enter(ctx context.Context, queue, owner, task string, lease time.Duration) (bool, error) {
	if lease == 0 {
		lease = queueLease
	}
	ready, err := t.run(ctx, queue, "enter", owner, task, lease.Milliseconds(), (24 * time.Hour).Milliseconds())
	return len(ready) > 0, err
}

// Leave gives the place of a task back, or lets it wait no longer, and returns the
// tasks that have a place now. It may run twice.
func (t *Turns) Leave(ctx context.Context, queue, owner, task string) (ready []string, err error) {
	return t.run(ctx, queue, "leave", owner, task, queueLease.Milliseconds())
}

// Offer says how many places a worker has; 0 when it stops. Call it at each
// interval. It returns the tasks that have a place now.
func (t *Turns) Offer(ctx context.Context, queue, worker string, places int, interval time.Duration) (ready []string, err error) {
	return t.run(ctx, queue, "offer", worker, places, (offers * interval).Milliseconds(), queueLease.Milliseconds())
}
