package redisx

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

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

// scanCount is how many keys a server looks at for one reply of Scan.
const scanCount = 1000

// Scan calls found with the keys that match a pattern, some at a time and never at the
// same time, on every server of a Cluster. A key may come twice. It reads the names of all
// keys: it is for an operator, not for a request.
func Scan(ctx context.Context, client redis.UniversalClient, pattern string, found func(keys []string) error) error {
	var mu sync.Mutex
	one := func(ctx context.Context, server redis.Cmdable) error {
		var cursor uint64
		for {
			keys, next, err := server.Scan(ctx, cursor, pattern, scanCount).Result()
			if err != nil {
				return fmt.Errorf("redisx: scan %s: %w", pattern, err)
			}
			mu.Lock()
			if len(keys) > 0 {
				err = found(keys)
			}
			mu.Unlock()
			if err != nil || next == 0 {
				return err
			}
			cursor = next
		}
	}
	return eachServer(ctx, client, one)
}

// unavailableReplies begin the errors of a server that will accept the same command
// later: it loads its data, follows a master, has no memory or cannot write to its
// disk, has lost its replicas or its cluster.
var unavailableReplies = []string{
	"LOADING", "READONLY", "MASTERDOWN", "OOM", "MISCONF", "NOREPLICAS", "CLUSTERDOWN", "TRYAGAIN", "BUSY ", "UNBLOCKED",
	"ERR max number of clients reached",
	// Of the client, which has them without a type.
	"redis: cluster has no nodes", "redis: no sentinels configured",
	"redis: all sentinels specified in configuration are unreachable",
}

// IsUnavailable reports whether an error means that Redis cannot be reached, or that
// it accepts no such command now and will accept it later. Other errors of a server
// return with every attempt.
func IsUnavailable(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok { // also joined with the nil of a sentinel that knows no master
		return true
	}
	if err == nil {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, redis.ErrPoolTimeout) ||
		errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	text := err.Error() // scripts and other packages wrap the reply without its type
	for _, reply := range unavailableReplies {
		if strings.Contains(text, reply) {
			return true
		}
	}
	return false
}

// IsReply reports whether an error is the reply of a server that has refused a command.
func IsReply(err error) bool {
	_, refused := errors.AsType[redis.Error](err)
	return refused && !errors.Is(err, redis.Nil)
}

// IsLoading reports whether an error means that Redis reads its data from the disk.
func IsLoading(err error) bool { return err != nil && strings.Contains(err.Error(), "LOADING ") }

// IsFull reports whether an error means that Redis has no memory for a write. What only
// deletes still works.
func IsFull(err error) bool { return err != nil && strings.Contains(err.Error(), "OOM ") }

// Secret returns the random text at a key, which the first process makes and all share. One
// that exists is read also while Redis has no memory for writes.
func Secret(ctx context.Context, client redis.UniversalClient, key string) ([]byte, error) {
	secret, err := client.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		if err = client.SetNX(ctx, key, rand.Text()+rand.Text(), 0).Err(); err == nil {
			secret, err = client.Get(ctx, key).Bytes()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("redisx: secret: %w", err)
	}
	return secret, nil
}
