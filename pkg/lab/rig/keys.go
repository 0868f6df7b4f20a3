package rig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Keys are the keys of Redis whose names differ only in what they are about.
type Keys struct {
	Pattern string
	Count   int
	Bytes   int64         // of all of them
	Longest time.Duration // the longest lifetime
	Lasting int           // keys without a lifetime
}

// String is a line of a table.
func (k Keys) String() string {
	lifetime := k.Longest.Round(time.Second).String()
	if k.Lasting > 0 {
		lifetime = fmt.Sprintf("none for %d", k.Lasting)
	}
	return fmt.Sprintf("%-36s %7d keys %11d bytes, lifetime %s", k.Pattern, k.Count, k.Bytes, lifetime)
}

// keyWord is a part of a key that is the same for every job, listing or caller.
var keyWord = regexp.MustCompile(`^[a-z_{}.-]+$`)

// PatternOf returns a key with a star for what it is about.
func PatternOf(key string) string {
	parts := strings.Split(key, ":")
	for i, part := range parts {
		if !keyWord.MatchString(part) {
			parts[i] = "*"
		}
	}
	return strings.Join(slices.CompactFunc(parts, func(a, b string) bool { return a == "*" && b == "*" }), ":")
}

// ReadKeys returns all keys by pattern.
func ReadKeys(ctx context.Context, client redis.UniversalClient) ([]Keys, error) {
	const page = 1000
	found := map[string]*Keys{}
	for cursor := uint64(0); ; {
		names, next, err := client.Scan(ctx, cursor, "*", page).Result()
		if err != nil {
			return nil, fmt.Errorf("lab: keys of Redis: %w", err)
		}
		if err := addKeys(ctx, client, names, found); err != nil {
			return nil, err
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	all := make([]Keys, 0, len(found))
	for _, keys := range found {
		all = append(all, *keys)
	}
	slices.SortFunc(all, func(a, b Keys) int { return strings.Compare(a.Pattern, b.Pattern) })
	return all, nil
}

func addKeys(ctx context.Context, client redis.UniversalClient, names []string, found map[string]*Keys) error {
	lifetimes, sizes := make([]*redis.DurationCmd, len(names)), make([]*redis.IntCmd, len(names))
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, name := range names {
			lifetimes[i], sizes[i] = pipe.PTTL(ctx, name), pipe.MemoryUsage(ctx, name)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) { // a key that has ended meanwhile has no size
		return fmt.Errorf("lab: lifetimes in Redis: %w", err)
	}
	const gone = -2 // what PTTL says of a key that has ended meanwhile
	for i, name := range names {
		lifetime := lifetimes[i].Val()
		if lifetime == gone {
			continue
		}
		pattern := PatternOf(name)
		if found[pattern] == nil {
			found[pattern] = &Keys{Pattern: pattern}
		}
		keys := found[pattern]
		keys.Count++
		keys.Bytes += sizes[i].Val()
		keys.Longest = max(keys.Longest, lifetime)
		if lifetime < 0 {
			keys.Lasting++
		}
	}
	return nil
}
