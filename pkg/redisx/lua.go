package redisx

// LuaClock begins a script that needs the time. It sets now to milliseconds since
// 1970 by the clock of Redis, so that the clocks of the processes need not agree.
const LuaClock = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`

// LuaWhenFull begins a script that must also work while Redis is full, because it ends
// or deletes something. Redis then refuses a write that needs memory, but not one that
// only deletes, and a script that has written may write on. KEYS[1] is a hash, which
// stays as it is.
const LuaWhenFull = `
redis.call('HDEL', KEYS[1], '')
`
