package batch

import (
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// The keys of a batch:
//
//	batch:{id}         hash: meta (what never changes, as JSON), owner; waiting and
//	                   running, the numbers of distinct rows; done; next, before
//	                   which no row waits; cancelled, ended; at_* and done_*, how
//	                   many rows were done when; retry_<name>
//	batch:{id}:states  string: a state code for each row
//	batch:{id}:rows    hash: number of a chunk → its rows, packed
//	batch:{id}:duplicates  hash: row → its later duplicates, "3,17"
//	batch:{id}:running  hash: running row → its last update in ms and its job, "1763700000000 01J…"
//	batch:{id}:out     hash: row → its result or error, packed
//	batch:{id}:parked  sorted set: running row that takes no place in the window →
//	                   until when, in ms
//	batch:{id}:ended   string: when each row ended, in ten digits of Unix seconds; zero bytes for no outcome
//
// and for all batches:
//
//	batches:open        sorted set: active batch → when it was last served
//	batches:of:{owner}  sorted set: batch → when it was created

// luaBatch begins the scripts below. Their KEYS are those of keysOf.
const luaBatch = redisx.LuaClock + `
local function count(name) return tonumber(redis.call('HGET', KEYS[1], name) or 0) end
local function set(row, code)
  redis.call('SETRANGE', KEYS[2], row, code)
  local duplicates = redis.call('HGET', KEYS[4], row) or ''
  for duplicate in string.gmatch(duplicates, '%d+') do redis.call('SETRANGE', KEYS[2], duplicate, string.upper(code)) end
  return code
end
local function persist()
  for i = 1, 8 do redis.call('PERSIST', KEYS[i]) end
  return true
end
-- Ends a batch without waiting or running rows.
local function finalize(ttl)
  if count('waiting') > 0 or count('running') > 0 then return false end
  redis.call('HSET', KEYS[1], 'ended', now)
  for i = 1, 8 do redis.call('PEXPIRE', KEYS[i], ttl) end
  return true
end
`

// scriptCreate creates a batch whose rows are written.
// ARGV: meta, owner, states, number of waiting rows, origin as JSON.
var scriptCreate = redis.NewScript(luaBatch + `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'meta', ARGV[1], 'owner', ARGV[2], 'waiting', ARGV[4], 'running', 0,
  'done', 0, 'next', 0, 'origin', ARGV[5])
redis.call('SET', KEYS[2], ARGV[3])
persist()
return 1
`)

// scriptClaim marks waiting rows as running and returns them. ARGV: maximum number.
var scriptClaim = redis.NewScript(luaBatch + `
local states = redis.call('GET', KEYS[2])
if not states then return {} end
local claimed, next = {}, count('next')
while #claimed < tonumber(ARGV[1]) do
  local at = string.find(states, 'w', next + 1, true)
  if not at then next = #states break end
  claimed[#claimed + 1] = at - 1
  next = at
end
for _, row in ipairs(claimed) do
  set(row, 'r')
  redis.call('HSET', KEYS[5], row, now .. ' ')
end
redis.call('HSET', KEYS[1], 'next', next)
if #claimed == 0 then return claimed end
redis.call('HINCRBY', KEYS[1], 'waiting', -#claimed)
redis.call('HINCRBY', KEYS[1], 'running', #claimed)
if redis.call('HSETNX', KEYS[1], 'at_1', now) == 1 then redis.call('HSET', KEYS[1], 'done_1', count('done')) end
return claimed
`)

// scriptSetJobs records the jobs of running rows. ARGV: row, job, row, job and so on. It
// returns 1 when the batch was cancelled meanwhile.
var scriptSetJobs = redis.NewScript(luaBatch + `
for i = 1, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[5], ARGV[i]) == 1 then redis.call('HSET', KEYS[5], ARGV[i], now .. ' ' .. ARGV[i + 1]) end -- if
end
return redis.call('HEXISTS', KEYS[1], 'cancelled')
`)

// scriptPark parks a running row for a time. ARGV: row, time in ms, TTL of the parked
// rows in ms. Returns 0 when the row does not run.
var scriptPark = redis.NewScript(luaBatch + `
if redis.call('GETRANGE', KEYS[2], ARGV[1], ARGV[1]) ~= 'r' then return 0 end
local job = string.match(redis.call('HGET', KEYS[5], ARGV[1]) or '', ' (.*)') or ''
local till = now + tonumber(ARGV[2])
redis.call('HSET', KEYS[5], ARGV[1], till .. ' ' .. job)
redis.call('ZADD', KEYS[7], till, ARGV[1])
redis.call('PEXPIRE', KEYS[7], ARGV[3])
return 1
`)

// scriptFinish records the outcome of a running row, once.
// ARGV: row, state code, result or error, TTL of an ended batch in ms.
// Returns 0 when the row was not running, 2 when the batch has ended, else 1; and the owner.
var scriptFinish = redis.NewScript(luaBatch + `
local owner = redis.call('HGET', KEYS[1], 'owner') or ''
if redis.call('GETRANGE', KEYS[2], ARGV[1], ARGV[1]) ~= 'r' then return {0, owner} end
set(ARGV[1], ARGV[2])
local second = string.format('%010d', math.floor(now / 1000))
redis.call('SETRANGE', KEYS[8], ARGV[1] * 10, second)
for duplicate in string.gmatch(redis.call('HGET', KEYS[4], ARGV[1]) or '', '%d+') do
  redis.call('SETRANGE', KEYS[8], duplicate * 10, second)
end
redis.call('HSET', KEYS[6], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('ZREM', KEYS[7], ARGV[1])
redis.call('HINCRBY', KEYS[1], 'running', -1)
local done = redis.call('HINCRBY', KEYS[1], 'done', 1)
if now - count('at_1') > 10000 then
  redis.call('HSET', KEYS[1], 'at_0', count('at_1'), 'done_0', count('done_1'), 'at_1', now, 'done_1', done)
end
if finalize(ARGV[4]) then return {2, owner} end
return {1, owner}
`)

// scriptCancel cancels the waiting and the running rows, also while Redis is full; the jobs
// of these stay in the hash of running rows until Release. ARGV: TTL of an ended batch in ms.
// Returns 0 when there is no such batch or it has ended.
var scriptCancel = redis.NewScript(luaBatch + redisx.LuaWhenFull + `
local states = redis.call('GET', KEYS[2])
if not states or redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
redis.call('SET', KEYS[2], (string.gsub(states, '[wWrR]', {w = 'c', W = 'C', r = 'c', R = 'C'})), 'KEEPTTL')
redis.call('DEL', KEYS[7])
redis.call('HSETNX', KEYS[1], 'cancelled', now)
redis.call('HSET', KEYS[1], 'waiting', 0, 'running', 0)
finalize(ARGV[1])
return 1
`)

// scriptRetry makes the failed and the cancelled rows wait again, once for a name. ARGV: name,
// and the indexes of rows that duplicate none; no indexes are all rows.
// Returns their number, or -1 when that was done before.
var scriptRetry = redis.NewScript(luaBatch + `
local states = redis.call('GET', KEYS[2])
if not states then return 0 end
local once = 'retry_' .. ARGV[1]
if redis.call('HEXISTS', KEYS[1], once) == 1 then return -1 end
local codes, retried, failed = {}, 0, 0
for code in string.gmatch(states, '.') do codes[#codes + 1] = code end
local function retry(at)
  local code = codes[at]
  if code ~= 'f' and code ~= 'c' then return false end
  if code == 'f' then failed = failed + 1 end
  codes[at] = 'w'
  for duplicate in string.gmatch(redis.call('HGET', KEYS[4], at - 1) or '', '%d+') do codes[duplicate + 1] = 'W' end
  retried = retried + 1
  return true
end
if #ARGV == 1 then
  for at = 1, #codes do retry(at) end
else
  for i = 2, #ARGV do retry(tonumber(ARGV[i]) + 1) end
end
if retried == 0 then return 0 end
redis.call('HSET', KEYS[1], once, now)
redis.call('SET', KEYS[2], table.concat(codes))
redis.call('HINCRBY', KEYS[1], 'waiting', retried)
redis.call('HINCRBY', KEYS[1], 'done', 0 - failed)
redis.call('HSET', KEYS[1], 'next', 0)
redis.call('HDEL', KEYS[1], 'ended', 'cancelled', 'at_0', 'done_0', 'at_1', 'done_1')
persist()
return retried
`)

// scriptRemoveActive removes a batch from the active ones unless it was served
// since it was listed. KEYS: batches:open. ARGV: id, when it was last served.
var scriptRemoveActive = redis.NewScript(`
local served = redis.call('ZSCORE', KEYS[1], ARGV[1])
if served and tonumber(served) <= tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
`)
