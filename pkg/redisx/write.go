package redisx

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// keyProbe is written to see that Redis accepts a write: it can answer and refuse those,
// as a replica does, or with its memory or disk full.
const keyProbe, probeTTL = "ready:probe", time.Minute

// roomForWork is what a request that is accepted may write, in bytes. A server that has less left
// accepts the probe now and then, as connections come and go, and refuses the rest of the work.
const roomForWork = 1 << 20

// ErrFull means that the memory of a server that deletes nothing has no room for new work.
var ErrFull = errors.New("OOM less than 1 MB of maxmemory is left")

// CheckWrite returns why Redis does not accept a write.
func CheckWrite(ctx context.Context, client redis.UniversalClient) error {
	if err := client.Set(ctx, keyProbe, "", probeTTL).Err(); err != nil {
		return err
	}
	memory, err := ReadMemory(ctx, client)
	if err == nil && memory.Limit > 0 && !memory.Evicts() && memory.Limit-memory.Used < roomForWork {
		err = ErrFull
	}
	return err
}

// Ping returns why Redis does not answer. A server whose disk is full refuses even PING
// (MISCONF), and still answers reads.
func Ping(ctx context.Context, client redis.UniversalClient) error {
	err := client.Ping(ctx).Err()
	if redis.HasErrorPrefix(err, "MISCONF") {
		return nil
	}
	return err
}
