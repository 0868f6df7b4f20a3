package cache

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// droppable begin the keys of results that Drop looks at.
var droppable = []string{"cache:estimate:", "cache:quote:", "cache:compare:"}

// Drop deletes the estimates, quotes and comparisons for which matches returns true, and
// returns how many. matches gets every JSON object of a result, also those inside others.
// Drop reads all results: it is for an operator.
func Drop(ctx context.Context, client redis.UniversalClient, matches func(object map[string]any) bool) (dropped int, err error) {
	for _, prefix := range droppable {
		err = redisx.Scan(ctx, client, prefix+"*", func(keys []string) error {
			n, err := drop(ctx, client, keys, matches)
			dropped += n
			return err
		})
		if err != nil {
			return dropped, fmt.Errorf("cache: drop: %w", err)
		}
	}
	return dropped, nil
}

// dropChunk is how many results are in memory at once.
const dropChunk = 50

func drop(ctx context.Context, client redis.UniversalClient, keys []string, matches func(map[string]any) bool) (int, error) {
	n := 0
	for len(keys) > 0 {
		chunk := keys[:min(len(keys), dropChunk)]
		keys = keys[len(chunk):]
		names := make([]Key, len(chunk))
		for i, key := range chunk {
			names[i] = Key(key)
		}
		results, err := New(client).GetAll(ctx, names)
		if err != nil {
			return n, err
		}
		for i, result := range results {
			var value any
			if json.Unmarshal(result, &value) != nil || !contains(value, matches) {
				continue
			}
			if err := client.Del(ctx, chunk[i]).Err(); err != nil {
				return n, err
			}
			n++
			if !strings.HasPrefix(chunk[i], droppable[0]) {
				continue
			}
			if err := client.Del(ctx, string(ExplanationKey(names[i]))).Err(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// contains reports whether an object of a JSON value matches.
func contains(value any, matches func(map[string]any) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		if matches(value) {
			return true
		}
		for _, part := range value {
			if contains(part, matches) {
				return true
			}
		}
	case []any:
		for _, part := range value {
			if contains(part, matches) {
				return true
			}
		}
	}
	return false
}
