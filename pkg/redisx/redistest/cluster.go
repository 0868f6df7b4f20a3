package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	clusterNodes = 3
	clusterSlots = 16_384 // of every Redis Cluster
)

// ClusterSet is a Redis Cluster of three masters.
type ClusterSet struct {
	Nodes []*Server
	URL   string // redis-cluster://…
}

// Cluster starts a cluster for the time of the test. That takes more than two
// seconds, because a new node waits that long before it accepts writes. Tests
// that can share a cluster use Each.
func Cluster(t testing.TB) *ClusterSet {
	t.Helper()
	daemons, err := launchCluster(needRedis(t), t.TempDir())
	if err != nil {
		t.Fatalf("redistest: cluster: %v", err)
	}
	set := &ClusterSet{URL: clusterURL(daemons)}
	for _, d := range daemons {
		set.Nodes = append(set.Nodes, own(t, d))
	}
	return set
}

func clusterURL(daemons []*daemon) string {
	addrs := make([]string, len(daemons))
	for i, d := range daemons {
		addrs[i] = d.addr()
	}
	return "redis-cluster://" + strings.Join(addrs, ",")
}

func launchCluster(binary, dir string) (daemons []*daemon, err error) {
	defer func() {
		if err != nil {
			killAll(daemons)
		}
	}()
	for i := range clusterNodes {
		home := filepath.Join(dir, "node"+strconv.Itoa(i))
		if err := os.Mkdir(home, 0o700); err != nil {
			return daemons, fmt.Errorf("directory of a node: %w", err)
		}
		d, err := launch(binary, home, serverArgs(Args("--cluster-enabled", "yes")))
		if err != nil {
			return daemons, err
		}
		daemons = append(daemons, d)
	}
	if err := joinCluster(daemons); err != nil {
		return daemons, err
	}
	return daemons, poll(func(ctx context.Context) error { return clusterReady(ctx, daemons) })
}

func killAll(daemons []*daemon) {
	for _, d := range daemons {
		d.kill()
	}
}

// joinCluster does what redis-cli --cluster create does: an epoch and a share
// of the slots for each node, then the first meets the others.
func joinCluster(daemons []*daemon) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	first := daemons[0].client()
	defer first.Close()
	for i, d := range daemons {
		node := d.client()
		defer node.Close()
		if err := node.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return fmt.Errorf("epoch of node %d: %w", i, err)
		}
		low, high := i*clusterSlots/len(daemons), (i+1)*clusterSlots/len(daemons)-1
		if err := node.ClusterAddSlotsRange(ctx, low, high).Err(); err != nil {
			return fmt.Errorf("slots of node %d: %w", i, err)
		}
		if i == 0 {
			continue
		}
		if err := first.ClusterMeet(ctx, loopback, strconv.Itoa(d.port)).Err(); err != nil {
			return fmt.Errorf("meet node %d: %w", i, err)
		}
	}
	return nil
}

// clusterReady returns nil once every node knows every other and its slots.
func clusterReady(ctx context.Context, daemons []*daemon) error {
	for i, d := range daemons {
		node := d.client()
		info, err := node.ClusterInfo(ctx).Result()
		_ = node.Close()
		if err != nil {
			return fmt.Errorf("state of node %d: %w", i, err)
		}
		for _, want := range []string{
			"cluster_state:ok",
			fmt.Sprintf("cluster_known_nodes:%d", len(daemons)),
			fmt.Sprintf("cluster_size:%d", len(daemons)),
		} {
			if !strings.Contains(info, want+"\r\n") {
				return fmt.Errorf("node %d: no %s in\n%s", i, want, info)
			}
		}
	}
	return nil
}
