package redisx_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// maxGap is how long no write succeeds after a primary of a cluster has died. The
// replica needs about three seconds of it.
const maxGap = 8 * time.Second

func TestClusterFailoverIsNoticedWithinSeconds(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	set := redistest.ReplicatedCluster(t)
	conn := redistest.Open(t, set.URL)
	write := func(i int) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for slot := range 8 { // on all servers
			if err := conn.Client().Set(ctx, fmt.Sprintf("key:%d", slot), i, 0).Err(); err != nil {
				return err
			}
		}
		return nil
	}
	must(t, write(0))
	set.Nodes[0].Kill()
	died := time.Now()
	i := 0
	testenv.AwaitFor(t, 10*maxGap, "writes", func() (any, bool) {
		i++
		err := write(i)
		return err, err == nil
	})
	gap := time.Since(died)
	t.Logf("writes succeed %v after the primary's death", gap.Round(time.Millisecond))
	if gap > maxGap {
		t.Errorf("writes succeed only %v after the primary's death, want %v", gap, maxGap)
	}
}

func TestOpenWhileLoading(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.RestartLoading(2 * time.Second)
	if _, err := redisx.Open(t.Context(), redisx.Options{URL: server.URL}); !redisx.IsLoading(err) {
		t.Errorf("Open: %v", err)
	}
	conn, err := redisx.Open(t.Context(), redisx.Options{URL: server.URL, AllowLoading: true})
	must(t, err)
	defer conn.Close()
	if !conn.Loading(t.Context()) {
		t.Error("it does not load")
	}
	eventually(t, "it has loaded", func() bool { return !conn.Loading(t.Context()) })
	must(t, conn.Client().Set(t.Context(), "k", "v", 0).Err())
}

func TestAwaitReplicas(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	set := redistest.Sentinel(t)
	conn := redistest.Open(t, set.URL)
	must(t, conn.Client().Set(t.Context(), "k", "v", 0).Err())
	for _, n := range []int{0, 1} {
		must(t, conn.AwaitReplicas(t.Context(), n))
	}
	if n, err := conn.Replicas(t.Context()); err != nil || n != 1 {
		t.Errorf("%d replicas, %v", n, err)
	}
	for range 20 { // every connection of the pool asks for all writes
		must(t, conn.Client().Set(t.Context(), "k", "v", 0).Err())
		must(t, conn.AwaitReplicas(t.Context(), 1))
		if n, err := redistest.Open(t, set.Replica.URL).Client().Exists(t.Context(), "k").Result(); err != nil || n != 1 {
			t.Fatalf("the replica has %d, %v", n, err)
		}
	}
	set.Replica.Kill()
	must(t, conn.Client().Set(t.Context(), "k", "w", 0).Err())
	if err := conn.AwaitReplicas(t.Context(), 1); !errors.Is(err, redisx.ErrNotReplicated) {
		t.Errorf("without a replica: %v", err)
	}
	must(t, conn.AwaitReplicas(t.Context(), 0))
}

func TestAwaitReplicasOfEveryMaster(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	set := redistest.ReplicatedCluster(t)
	conn := redistest.Open(t, set.URL)
	must(t, conn.AwaitReplicas(t.Context(), 1))
	set.Replicas[2].Kill()
	if err := conn.AwaitReplicas(t.Context(), 1); !errors.Is(err, redisx.ErrNotReplicated) {
		t.Errorf("one master without a replica: %v", err)
	}
}
