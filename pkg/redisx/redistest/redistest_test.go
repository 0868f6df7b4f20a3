package redistest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestKilledServerRefusesAndRestartedServerAnswers(t *testing.T) {
	server := redistest.Start(t)
	client := redistest.Open(t, server.URL).Client()
	must(t, client.Set(t.Context(), "k", "v", 0).Err())

	server.Kill()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Fatal("a killed server answered")
	}
	server.Restart()
	if err := client.Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("GET after restart: %v, want redis.Nil: this server keeps nothing", err)
	}
}

func TestAOFKeepsWhatWasAnswered(t *testing.T) {
	server := redistest.Start(t, redistest.AOF())
	client := redistest.Open(t, server.URL).Client()
	must(t, client.Set(t.Context(), "k", "v", 0).Err())

	server.Kill()
	server.Restart()
	if got, err := client.Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Errorf("GET after restart: %q, %v", got, err)
	}
}

func TestSentinelPromotesTheReplica(t *testing.T) {
	testenv.Long(t)
	set := redistest.Sentinel(t)
	client := redistest.Open(t, set.URL).Client()
	must(t, client.Set(t.Context(), "k", "v", 0).Err())
	if n, err := client.Do(t.Context(), "WAIT", 1, deadline.Milliseconds()).Int(); err != nil || n != 1 {
		t.Fatalf("WAIT: %d, %v", n, err)
	}

	set.Master.Kill()
	replica := redistest.Open(t, set.Replica.URL).Client()
	eventually(t, "the replica takes writes", func(ctx context.Context) bool {
		return replica.Set(ctx, "new", "v", 0).Err() == nil
	})
	eventually(t, "the client follows", func(ctx context.Context) bool {
		return client.Get(ctx, "new").Val() == "v"
	})
	if got := client.Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("k = %q after the failover", got)
	}
}

func TestClusterSpreadsKeysOverItsNodes(t *testing.T) {
	testenv.Long(t)
	set := redistest.Cluster(t)
	client := redistest.Open(t, set.URL).Client()
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		must(t, client.Set(t.Context(), key, "v", 0).Err())
	}
	for i, node := range set.Nodes {
		if n := redistest.Open(t, node.URL).Client().DBSize(t.Context()).Val(); n == 0 {
			t.Errorf("node %d holds no key", i)
		}
	}
}

func TestEachStartsEmpty(t *testing.T) {
	for _, turn := range []string{"first", "second"} {
		t.Run(turn, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
				for _, key := range []string{"a", "b", "c", "d", "e"} {
					if err := conn.Client().Get(t.Context(), key).Err(); !errors.Is(err, redis.Nil) {
						t.Errorf("GET %s: %v, want redis.Nil", key, err)
					}
					must(t, conn.Client().Set(t.Context(), key, "v", 0).Err())
				}
			})
		})
	}
}

func TestProxyCutsAndRestoresTheLine(t *testing.T) {
	line := redistest.Proxy(t, redistest.Start(t).Addr)
	client := redistest.Open(t, line.URL).Client()
	must(t, client.Set(t.Context(), "k", "v", 0).Err())

	line.Disable()
	if err := client.Get(t.Context(), "k").Err(); err == nil {
		t.Fatal("an answer came over a cut line")
	}
	line.Enable()
	if got, err := client.Get(t.Context(), "k").Result(); err != nil || got != "v" {
		t.Errorf("GET after Enable: %q, %v", got, err)
	}
}

func TestProxyDelaysAnswers(t *testing.T) {
	const delay = 100 * time.Millisecond
	line := redistest.Proxy(t, redistest.Start(t).Addr)
	client := redistest.Open(t, line.URL).Client()
	line.Delay(delay)
	start := time.Now()
	must(t, client.Ping(t.Context()).Err())
	if took := time.Since(start); took < delay {
		t.Errorf("answered after %v, want at least %v", took, delay)
	}
}

// deadline bounds waits for events that must happen. A test that passes does not
// wait that long.
const deadline = 30 * time.Second

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, ok func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !ok(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-ticker.C:
		}
	}
}
