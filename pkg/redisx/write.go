package redisx

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// keyProbe is written to see that Redis accepts a write: it can answer and refuse those,
// as a replica does, or with its memory or disk full.
const keyProbe, probeTTL = "ready:probe", time.Minute

// CheckWrite returns why Redis does not accept a write.
func CheckWrite(ctx context.Context, client redis.UniversalClient) error {
	return client.Set(ctx, keyProbe, "", probeTTL).Err()
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
