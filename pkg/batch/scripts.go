package batch

import "github.com/redis/go-redis/v9"

// The keys of a batch:
//
//	batch:{id}         hash  meta (what never changes, as JSON), owner; waiting
//	                         and running, which count questions; done; next,
//	                         before which no row waits; cancelled, ended; at_*,
//	                         done_*: how many were done when; and retry_* by name
//	batch:{id}:states  string, a letter for each row
//	batch:{id}:rows    hash  number of a chunk → its rows, packed
//	batch:{id}:twins   hash  row → the later rows with its question: "3,17"
//	batch:{id}:atwork  hash  row → since when, and the id of its job: "1763700000000 01J…"
//	batch:{id}:out     hash  row → its result or error, packed
//
// and for all batches:
//
//	batches:open        sorted set: batch at work → when it had its last turn
//	batches:of:{owner}  sorted set: batch → when it was made

// KEYS of every script below: the hash, then states, rows, twins, atwork, out.
const luaBatch = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function count(name) return tonumber(redis.call('HGET', KEYS[1], name) or 0) end
local function set(row, letter)
  redis.call('SETRANGE', KEYS[2], row, letter)
  local twins = redis.call('HGET', KEYS[4], row) or ''
  for twin in string.gmatch(twins, '%d+') do redis.call('SETRANGE', KEYS[2], twin, string.upper(letter)) end
  return letter
end
local function keep()
  for i = 1, 6 do redis.call('PERSIST', KEYS[i]) end
  return true
end
-- An ended batch is kept for a while.
local function settle(life)
  if count('waiting') > 0 or count('running') > 0 then return false end
  redis.call('HSET', KEYS[1], 'ended', now)
  for i = 1, 6 do redis.call('PEXPIRE', KEYS[i], life) end
  return true
end
`

// scriptCreate makes a batch of rows that stand already.
// ARGV: meta, owner, states, waiting.
var scriptCreate = redis.NewScript(luaBatch + `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'meta', ARGV[1], 'owner', ARGV[2], 'waiting', ARGV[4], 'running', 0, 'done', 0, 'next', 0)
redis.call('SET', KEYS[2], ARGV[3])
keep()
return 1
`)

// scriptClaim marks up to so many waiting rows as running. ARGV: how many.
// Returns the rows.
var scriptClaim = redis.NewScript(luaBatch + `
local states = redis.call('GET', KEYS[2])
if not states then return {} end
local taken, next = {}, count('next')
while #taken < tonumber(ARGV[1]) do
  local at = string.find(states, 'w', next + 1, true)
  if not at then next = #states break end
  taken[#taken + 1] = at - 1
  next = at
end
for _, row in ipairs(taken) do
  set(row, 'r')
  redis.call('HSET', KEYS[5], row, now .. ' ')
end
redis.call('HSET', KEYS[1], 'next', next)
if #taken == 0 then return taken end
redis.call('HINCRBY', KEYS[1], 'waiting', -#taken)
redis.call('HINCRBY', KEYS[1], 'running', #taken)
if redis.call('HSETNX', KEYS[1], 'at_1', now) == 1 then redis.call('HSET', KEYS[1], 'done_1', count('done')) end
return taken
`)

// scriptSetJobs notes the jobs that are at work on rows. ARGV: row, job, row, job and so on.
var scriptSetJobs = redis.NewScript(luaBatch + `
for i = 1, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[5], ARGV[i]) == 1 then redis.call('HSET', KEYS[5], ARGV[i], now .. ' ' .. ARGV[i + 1]) end --
end
return 0
`)

// scriptFinish notes what became of a running row, once.
// ARGV: row, letter, result or error, life of an ended batch in ms.
// Returns 0 when the row was not running, 1, or 2 when the batch has ended.
var scriptFinish = redis.NewScript(luaBatch + `
if redis.call('GETRANGE', KEYS[2], ARGV[1], ARGV[1]) ~= 'r' then return 0 end
set(ARGV[1], ARGV[2])
redis.call('HSET', KEYS[6], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('HINCRBY', KEYS[1], 'running', -1)
local done = redis.call('HINCRBY', KEYS[1], 'done', 1)
if now - count('at_1') > 10000 then
  redis.call('HSET', KEYS[1], 'at_0', count('at_1'), 'done_0', count('done_1'), 'at_1', now, 'done_1', done)
end
if settle(ARGV[4]) then return 2 end
return 1
`)

// scriptCancel cancels the waiting rows for good. ARGV: life in ms.
// Returns 0 when there is no such batch or it has ended.
var scriptCancel = redis.NewScript(luaBatch + `
local states = redis.call('GET', KEYS[2])
if not states or redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
redis.call('SET', KEYS[2], (string.gsub(states, '[wW]', {w = 'c', W = 'C'})), 'KEEPTTL')
redis.call('HSETNX', KEYS[1], 'cancelled', now)
redis.call('HSET', KEYS[1], 'waiting', 0)
settle(ARGV[1])
return 1
`)

// scriptRetry has the failed rows wait again, once for a name. ARGV: name.
// Returns how many, -1 when that was done before.
var scriptRetry = redis.NewScript(luaBatch + `
local states = redis.call('GET', KEYS[2])
if not states then return 0 end
local once = 'retry_' .. ARGV[1]
if redis.call('HEXISTS', KEYS[1], once) == 1 then return -1 end
local _, failed = string.gsub(states, 'f', '')
if failed == 0 then return 0 end
redis.call('HSET', KEYS[1], once, now)
redis.call('SET', KEYS[2], (string.gsub(states, '[fF]', {f = 'w', F = 'W'})))
redis.call('HINCRBY', KEYS[1], 'waiting', failed)
redis.call('HINCRBY', KEYS[1], 'done', -failed)
redis.call('HSET', KEYS[1], 'next', 0)
redis.call('HDEL', KEYS[1], 'ended', 'cancelled', 'at_0', 'done_0', 'at_1', 'done_1')
keep()
return failed
`)

// scriptRemoveActive drops a batch from those at work if it had no turn since it was
// seen there. KEYS: batches:open. ARGV: id, the turn that was seen.
var scriptRemoveActive = redis.NewScript(`
local turn = redis.call('ZSCORE', KEYS[1], ARGV[1])
if turn and tonumber(turn) <= tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
`)
