package jobs

import (
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// The scripts of this package are all its writes. Each touches the keys of one
// job, which share a hash tag, or one key, so that they run on a cluster. Each
// reads the clock of Redis, so that the clocks of the workers need not agree.
//
// A job is a hash:
//
//	meta                  what never changes, as JSON
//	state, ended          its state; when it ended, in ms
//	result, error         how it ended, as JSON; the result packed
//	s:<step>:<what>       state, attempt, retries, worker, claim, since of a step
//	o:<step>              output of a step, packed, until the job ends
//	c:<child>:<what>      job (id) and end (outcome as JSON) of a child
//	asked                 a caller requested it, not only other jobs
//	q:<key>               with which query an API key reads it that has it in its list
//	promoted              it was bulk, and an interactive request has joined it
//
// It is at job:{slot}:id. Its subscribers are a set at subscribers:{slot}:id, what its
// caller sent is at upload:{slot}:id, its dedup key is at dedup:{slot}:hash, where slot is the end of the id (store.go). The
// jobs that the sweeper checks are sorted sets at jobs:active:<class>.

const luaNow = redisx.LuaClock + `
local function ended()
  local state = redis.call('HGET', KEYS[1], 'state')
  return state == 'succeeded' or state == 'failed' or state == 'cancelled'
end
`

// scriptCreate writes the record of a new job with its first steps and acquires its
// dedup key, or subscribes to the job that has the key and has not failed. One that has
// failed is returned too while its dedup key is kept for that (PublishEnd). KEYS:
// those of keysOf. ARGV: id, meta, TTL of the record and of the dedup key in ms,
// subscriber ("" for a caller who polls), what the keys of records and of
// subscribers in this slot begin with, for how long a dedup key is kept after a failure at
// most in ms, API key that has the job in its list ("" for none) and its query, steps. It returns nothing when it created
// the job, also when the same call did so before, else id and record of the other.
var scriptCreate = redis.NewScript(redisx.LuaClock + `
local function subscribe(record, subscribers, ttl)
  if ARGV[5] == '' then
    redis.call('HSET', record, 'asked', 1)
  else
    redis.call('SADD', subscribers, ARGV[5])
    redis.call('PEXPIRE', subscribers, ttl)
  end
  return true
end
local function list(record)
  if ARGV[9] ~= '' then redis.call('HSET', record, 'q:' .. ARGV[9], ARGV[10]) end --
end
if redis.call('HEXISTS', KEYS[1], 'state') == 1 then return {} end -- whatever has become of the job since
local holder = redis.call('GET', KEYS[3])
if holder then
  local record = ARGV[6] .. holder
  local state = redis.call('HGET', record, 'state')
  if state then list(record) end --
  if state == 'queued' or state == 'running' then
    subscribe(record, ARGV[7] .. holder, redis.call('PTTL', record))
  end
  if state == 'failed' and redis.call('PTTL', KEYS[3]) <= tonumber(ARGV[8]) then
    return {holder, redis.call('HGETALL', record)}
  end
  if state and state ~= 'failed' and state ~= 'cancelled' then return {holder, redis.call('HGETALL', record)} end --
end
redis.call('HSET', KEYS[1], 'meta', ARGV[2], 'state', 'queued')
list(KEYS[1])
for i = 11, #ARGV do
  local s = 's:' .. ARGV[i] .. ':'
  redis.call('HSET', KEYS[1], s .. 'attempt', 1, s .. 'state', 'ready', s .. 'since', now)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
subscribe(KEYS[1], KEYS[2], ARGV[3])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[4])
return {}
`)

// scriptOpen makes a step ready when it was not opened before. ARGV: step. It
// returns {state, attempt}, or {"missing"|"ended", 0}.
var scriptOpen = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 then return {'missing', 0} end
if ended() then return {'ended', 0} end
local s = 's:' .. ARGV[1] .. ':'
if redis.call('HSETNX', KEYS[1], s .. 'attempt', 1) == 1 then
  redis.call('HSET', KEYS[1], s .. 'state', 'ready', s .. 'since', now)
end
return {redis.call('HGET', KEYS[1], s .. 'state'), tonumber(redis.call('HGET', KEYS[1], s .. 'attempt'))}
`)

// scriptClaim gives a step to one run of a handler. ARGV: step, attempt, worker,
// claim. It returns a ClaimResult, and with "run" the record as it
// is afterwards.
var scriptClaim = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 then return {'missing'} end
if ended() then return {'ended'} end
if redis.call('HEXISTS', KEYS[1], 'o:' .. ARGV[1]) == 1 then return {'done'} end
local s = 's:' .. ARGV[1] .. ':'
if redis.call('HGET', KEYS[1], s .. 'attempt') ~= ARGV[2] then return {'stale'} end
redis.call('HSET', KEYS[1], 'state', 'running', s .. 'state', 'claimed',
  s .. 'worker', ARGV[3], s .. 'claim', ARGV[4], s .. 'since', now)
redis.call('HDEL', KEYS[1], s .. 'idle')
return {'run', redis.call('HGETALL', KEYS[1])}
`)

// scriptRelease gives the steps back that a run has claimed, to be retried. ARGV: claim, 1
// when that counts as a retry.
var scriptRelease = redis.NewScript(luaNow + `
if ended() then return 0 end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local s = string.match(field, '^(s:.+:)claim$')
  if s and redis.call('HGET', KEYS[1], field) == ARGV[1] and redis.call('HGET', KEYS[1], s .. 'state') == 'claimed' then
    redis.call('HDEL', KEYS[1], s .. 'worker', field)
    redis.call('HSET', KEYS[1], s .. 'state', 'ready', s .. 'since', now)
    if ARGV[2] == '1' then redis.call('HINCRBY', KEYS[1], s .. 'retries', 1) end
  end
end
return 1
`)

// scriptRequeue raises the attempt of a step whose worker or task is lost. ARGV:
// step, and its attempt, state and claim as they were seen. It returns the new
// attempt, or 0 when the step has changed in between.
var scriptRequeue = redis.NewScript(luaNow + `
local s = 's:' .. ARGV[1] .. ':'
if redis.call('HGET', KEYS[1], s .. 'attempt') ~= ARGV[2] then return 0 end
if redis.call('HGET', KEYS[1], s .. 'state') ~= ARGV[3] then return 0 end
if (redis.call('HGET', KEYS[1], s .. 'claim') or '') ~= ARGV[4] then return 0 end
if ended() or redis.call('HEXISTS', KEYS[1], 'o:' .. ARGV[1]) == 1 then return 0 end
redis.call('HDEL', KEYS[1], s .. 'worker', s .. 'claim', s .. 'idle')
redis.call('HSET', KEYS[1], s .. 'state', 'ready', s .. 'since', now)
return redis.call('HINCRBY', KEYS[1], s .. 'attempt', 1)
`)

// scriptComplete stores the output of a step, and opens the next steps: ready, or
// claimed by a run that goes on with them. The first output stays, also when it
// comes from an attempt that was requeued too early, and only with the first output
// steps are opened. ARGV: step, output, worker and claim of the run ("" for none),
// next steps. It returns {1 when this call, or the same run before, did all of
// that, 1 when the job was promoted}.
var scriptComplete = redis.NewScript(luaNow + `
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return {0, 0} end
local all = 1
if redis.call('HSETNX', KEYS[1], 'o:' .. ARGV[1], ARGV[2]) == 0 then
  if ARGV[4] == '' then return {0, 0} end
  for i = 5, #ARGV do
    if redis.call('HGET', KEYS[1], 's:' .. ARGV[i] .. ':claim') ~= ARGV[4] then all = 0 end --
  end
  return {all, redis.call('HEXISTS', KEYS[1], 'promoted')}
end
local s = 's:' .. ARGV[1] .. ':'
redis.call('HDEL', KEYS[1], s .. 'worker', s .. 'claim')
redis.call('HSET', KEYS[1], s .. 'state', 'done', s .. 'since', now)
for i = 5, #ARGV do
  local s = 's:' .. ARGV[i] .. ':'
  if redis.call('HSETNX', KEYS[1], s .. 'attempt', 1) == 0 then
    all = 0
  elseif ARGV[4] == '' then
    redis.call('HSET', KEYS[1], s .. 'state', 'ready', s .. 'since', now)
  else
    redis.call('HSET', KEYS[1], s .. 'state', 'claimed', s .. 'since', now, s .. 'worker', ARGV[3], s .. 'claim', ARGV[4])
  end --
end
return {all, redis.call('HEXISTS', KEYS[1], 'promoted')}
`)

// scriptTrim deletes the steps, outputs and result, if any, of a job that has ended, unless a
// caller requested it. ARGV: TTL in ms.
var scriptTrim = redis.NewScript(luaNow + `
if not ended() or redis.call('HEXISTS', KEYS[1], 'asked') == 1 then return 0 end
local fields = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local kind = string.sub(field, 1, 2)
  if kind == 's:' or kind == 'o:' or field == 'result' then fields[#fields + 1] = field end --
end
if #fields > 0 then redis.call('HDEL', KEYS[1], unpack(fields)) end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
`)

// luaPublish defines publish: it lets the dedup key expire after a grace (0 ms: at
// once) if the job still has it, tells the Hubs, and returns the subscribers. KEYS:
// those of keysOf.
const luaPublish = `
local function publish(id, grace, channel)
  if redis.call('GET', KEYS[3]) == id then redis.call('PEXPIRE', KEYS[3], grace) end
  redis.call('PUBLISH', channel, id)
  return redis.call('SMEMBERS', KEYS[2])
end
`

// scriptPublish publishes the end of a job again, for a process that died after it, or one
// that Unsubscribe has cancelled. ARGV: id, grace in ms, channel. It
// returns the subscribers.
var scriptPublish = redis.NewScript(luaPublish + `return publish(ARGV[1], ARGV[2], ARGV[3])`)

// scriptEnd ends a job, once: it deletes the attachment and the outputs of the steps, which
// nobody reads any more, and publishes the end. KEYS: those of keysOf. ARGV: id, grace in ms, channel, retention in ms, state,
// field (result, error, "", or cached for a result that only the cache has), its value, step and
// claim without which the job does not end ("" for none), the last steps. It returns the time
// of the end, 1 when the job was promoted, and the subscribers; nothing when it did not end
// the job: it has ended, the claim is not valid any more, or a step has an output of another
// run; and "wanted" when it did not because a caller has joined the job, who needs its result.
var scriptEnd = redis.NewScript(luaNow + luaPublish + `
if redis.call('EXISTS', KEYS[1]) == 0 or ended() then return {} end
if ARGV[9] ~= '' and redis.call('HGET', KEYS[1], 's:' .. ARGV[8] .. ':claim') ~= ARGV[9] then return {} end
for i = 10, #ARGV do
  if redis.call('HEXISTS', KEYS[1], 'o:' .. ARGV[i]) == 1 then return {} end --
end
if ARGV[6] == 'cached' and (redis.call('HEXISTS', KEYS[1], 'asked') == 1 or redis.call('HEXISTS', KEYS[1], 'promoted') == 1) then
  return {'wanted'}
end
redis.call('DEL', KEYS[4]) -- first, as in redisx.LuaWhenFull
for i = 10, #ARGV do
  local s = 's:' .. ARGV[i] .. ':'
  redis.call('HDEL', KEYS[1], s .. 'worker', s .. 'claim')
  redis.call('HSETNX', KEYS[1], s .. 'attempt', 1)
  redis.call('HSET', KEYS[1], s .. 'state', 'done', s .. 'since', now)
end
redis.call('HSET', KEYS[1], 'state', ARGV[5], 'ended', now)
if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], ARGV[6], ARGV[7]) end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 2) == 'o:' then redis.call('HDEL', KEYS[1], field) end --
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {now, redis.call('HEXISTS', KEYS[1], 'promoted'), publish(ARGV[1], ARGV[2], ARGV[3])}
`)

// scriptListDue returns jobs that are due for a check, each to one caller, and
// postpones their next check. KEYS: the active set. ARGV: limit, delay in ms.
var scriptListDue = redis.NewScript(redisx.LuaClock + `
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, id in ipairs(due) do redis.call('ZADD', KEYS[1], now + ARGV[2], id) end
return due
`)

// scriptSchedule sets when an active job is checked next. KEYS: the active set.
// ARGV: id, delay in ms, "NX" to keep an earlier time.
var scriptSchedule = redis.NewScript(redisx.LuaClock + `
if ARGV[3] == 'NX' then return redis.call('ZADD', KEYS[1], 'NX', now + ARGV[2], ARGV[1]) end
return redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
`)

// scriptUnclaimed records when a ready step was first seen with its task taken and
// itself unclaimed. ARGV: step, attempt. It returns for how many ms that has been
// so.
var scriptUnclaimed = redis.NewScript(luaNow + `
local s = 's:' .. ARGV[1] .. ':'
if redis.call('HGET', KEYS[1], s .. 'attempt') ~= ARGV[2] then return 0 end
if redis.call('HGET', KEYS[1], s .. 'state') ~= 'ready' then return 0 end
redis.call('HSETNX', KEYS[1], s .. 'idle', now)
return now - redis.call('HGET', KEYS[1], s .. 'idle')
`)
