package redisx

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

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
