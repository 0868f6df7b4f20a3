// Package lua holds what the scripts that run in Redis have in common.
package lua

// Clock begins a script that needs the time. It sets now to milliseconds since
// 1970 by the clock of Redis, so that the clocks of the processes need not agree.
const Clock = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`
