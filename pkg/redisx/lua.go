package redisx

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
)

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

// scriptSwap sets a field that has still the given value, and other fields with it. ARGV: field,
// its value ("" for none), its new value, then more fields and values.
var scriptSwap = redis.NewScript(`
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3], unpack(ARGV, 4))
return 1
`)

// Swap sets a field of a hash that has still an old value ("" for none), and with it more fields to
// their values. It reports whether the field had that value.
func Swap(ctx context.Context, client redis.UniversalClient, key, field string, old, value any, more ...any) (bool, error) {
	return scriptSwap.Run(ctx, client, []string{key}, append([]any{field, old, value}, more...)...).Bool()
}

// scriptReplace sets a value that is still the given one. ARGV: that, the new value, 1 to delete it first.
var scriptReplace = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '1' then
  redis.call('DEL', KEYS[1])
  redis.pcall('SET', KEYS[1], ARGV[2])
  return 1
end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`)

// Replace sets the value of a key that is still the old one, and reports whether it was. With atAnyRate,
// for a key that does not expire, the old value goes also while Redis is full, and the new one is lost then.
func Replace(ctx context.Context, client redis.UniversalClient, key string, old, value any, atAnyRate bool) (bool, error) {
	return scriptReplace.Run(ctx, client, []string{key}, old, value, atAnyRate).Bool()
}

// ScriptRunner adds a script to a pipeline.
type ScriptRunner func(script *redis.Script, keys []string, args ...any) *redis.Cmd

// Pipelined sends what add adds in one round trip, scripts by their hashes. When
// Redis does not know one of them it sends everything again with their texts, so
// that everything must do no harm when it runs twice.
func Pipelined(ctx context.Context, client redis.UniversalClient, add func(pipe redis.Pipeliner, run ScriptRunner)) error {
	pipe := client.Pipeline()
	add(pipe, func(script *redis.Script, keys []string, args ...any) *redis.Cmd {
		return script.EvalSha(ctx, pipe, keys, args...)
	})
	commands, err := pipe.Exec(ctx)
	unknown := func(command redis.Cmder) bool { return redis.HasErrorPrefix(command.Err(), "NOSCRIPT") }
	if !slices.ContainsFunc(commands, unknown) {
		return err
	}
	pipe = client.Pipeline()
	add(pipe, func(script *redis.Script, keys []string, args ...any) *redis.Cmd {
		return script.Eval(ctx, pipe, keys, args...)
	})
	_, err = pipe.Exec(ctx)
	return err
}

// Exec sends a pipeline and returns its first error, but for redis.Nil: the absence of one key
// hides no error of another.
func Exec(ctx context.Context, pipe redis.Pipeliner) error {
	commands, err := pipe.Exec(ctx)
	for _, command := range commands {
		if err == nil || errors.Is(err, redis.Nil) {
			err = command.Err()
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// Each sends a command for each of some items in one pipeline, and returns the commands in their order.
// The absence of a key is no error.
func Each[T any, C redis.Cmder](
	ctx context.Context, client redis.UniversalClient, items []T, add func(pipe redis.Pipeliner, item T) C,
) ([]C, error) {
	pipe, commands := client.Pipeline(), make([]C, len(items))
	for i, item := range items {
		commands[i] = add(pipe, item)
	}
	return commands, Exec(ctx, pipe)
}
