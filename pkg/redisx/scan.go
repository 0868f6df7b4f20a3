package redisx

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

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
