package redisx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// ErrTooOld means that the server is older than Redis 6.2, the first version with
// GETDEL, GETEX and ZADD GT.
var ErrTooOld = errors.New("redisx: Redis 6.2 or newer is required")

const minMajor, minMinor = 6, 2

// check pings the server and reads its version. A server that hides its version
// passes; Warnings reports it.
func (c *Conn) check(ctx context.Context) error {
	ping := Ping(ctx, c.client)
	if ping != nil {
		ping = fmt.Errorf("ping: %w", ping)
	}
	if c.Embedded() || ping != nil && !IsLoading(ping) {
		return ping
	}
	infos, err := readInfos(ctx, c.client)
	for _, info := range infos {
		if version := info["redis_version"]; tooOld(version) {
			err = errors.Join(err, fmt.Errorf("%w: this is %s", ErrTooOld, version))
		}
	}
	return cmp.Or(err, ping)
}

// Loading reports whether the server loads its data. Any other answer, an error too,
// is no.
func (c *Conn) Loading(ctx context.Context) bool { return IsLoading(c.client.Ping(ctx).Err()) }

// Warnings returns sentences for the log at start about settings that may lose
// data; nil when there are none. The servers of a cluster do not repeat each
// other's sentences.
func (c *Conn) Warnings(ctx context.Context) []string {
	if c.Embedded() {
		return []string{"Redis runs inside this process: it is for development only and stores nothing permanently"}
	}
	infos, err := readInfos(ctx, c.client)
	var all []string
	for _, info := range infos {
		all = append(all, warnings(info)...)
	}
	if err != nil {
		all = append(all, fmt.Sprintf("the settings of Redis could not be read: %v", err))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func warnings(info map[string]string) (all []string) {
	if info["redis_version"] == "" {
		all = append(all, "Redis hides its version: 6.2 or newer is required")
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		all = append(all, fmt.Sprintf("Redis has maxmemory-policy %s: it may delete jobs; set noeviction", policy))
	}
	if info["aof_enabled"] == "0" {
		all = append(all, "Redis has appendonly off: a restart may lose jobs")
	}
	return all
}

// eachServer calls f for the server, or concurrently for every master of a cluster.
func eachServer(ctx context.Context, client redis.UniversalClient, f func(context.Context, redis.Cmdable) error) error {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return f(ctx, node) })
	}
	return f(ctx, client)
}

// readInfos returns the fields of INFO of the server, or of every master of a cluster; none of a
// server that refuses the command, as some hosted servers do.
func readInfos(ctx context.Context, client redis.UniversalClient) (all []map[string]string, err error) {
	var mu sync.Mutex
	err = eachServer(ctx, client, func(ctx context.Context, server redis.Cmdable) error {
		fields := infoFields(server.Info(ctx).Val())
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fields)
		return ctx.Err()
	})
	return all, err
}

func infoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

func tooOld(version string) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 { //nolint:mnd // two numbers
		return false
	}
	return major < minMajor || major == minMajor && minor < minMinor
}
