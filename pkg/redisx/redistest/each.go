package redistest

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
)

// Each runs a subtest on an empty Redis of every kind: embedded, real, and in the long
// tier sentinel and cluster. The last three need redis-server and follow the rule
// of testenv. The servers of sentinel and cluster are shared by the tests
// of the process, one test at a time: run must not call t.Parallel, nor Each.
func Each(t *testing.T, run func(t *testing.T, conn *redisx.Conn)) {
	t.Helper()
	t.Parallel()
	t.Run("embedded", func(t *testing.T) { run(t, Embedded(t)) })
	t.Run("real", func(t *testing.T) { run(t, Open(t, Start(t).URL)) })
	if !testenv.IsLong() {
		return
	}
	t.Run("sentinel", func(t *testing.T) { run(t, Open(t, sharedSentinel.take(t, "sentinel"))) })
	t.Run("cluster", func(t *testing.T) { run(t, Open(t, sharedCluster.take(t, "cluster"))) })
}

// flush deletes the data and the scripts of all servers behind the URL.
func flush(t testing.TB, url string) {
	t.Helper()
	conn, err := redisx.Open(t.Context(), redisx.Options{URL: withoutUser(url)})
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	defer conn.Close()
	empty := func(ctx context.Context, server redis.Cmdable) error {
		if err := server.ScriptFlush(ctx).Err(); err != nil {
			return err
		}
		return server.FlushAll(ctx).Err()
	}
	if cluster, ok := conn.Client().(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
			return empty(ctx, node)
		})
	} else {
		err = empty(t.Context(), conn.Client())
	}
	if err != nil {
		t.Fatalf("redistest: empty %s: %v", conn, err)
	}
}
