package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	clusterNodes = 3
	clusterSlots = 16_384 // of every Redis Cluster
)

// ClusterSet is a Redis Cluster of three masters, with a replica each where the
// test asks for them.
type ClusterSet struct {
	Nodes    []*Server // masters at the start; the first has the lowest slots
	Replicas []*Server // of the masters, in their order
	URL      string    // redis-cluster://…
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

// ReplicatedCluster starts a cluster whose masters have a replica each, which takes
// over about two seconds after the master's last answer.
func ReplicatedCluster(t testing.TB) *ClusterSet {
	t.Helper()
	binary, dir := needRedis(t), t.TempDir()
	quick := Args("--cluster-node-timeout", "1500", "--repl-diskless-sync-delay", "0")
	daemons, err := launchNodes(binary, dir, 2*clusterNodes, quick)
	if err == nil {
		err = replicate(daemons[:clusterNodes], daemons[clusterNodes:])
	}
	if err != nil {
		killAll(daemons)
		t.Fatalf("redistest: cluster: %v", err)
	}
	set := &ClusterSet{URL: clusterURL(daemons)}
	for i, d := range daemons {
		if i < clusterNodes {
			set.Nodes = append(set.Nodes, own(t, d))
		} else {
			set.Replicas = append(set.Replicas, own(t, d))
		}
	}
	return set
}

// replicate makes a cluster of the masters, and each of the replicas follow its master.
func replicate(masters, replicas []*daemon) error {
	if err := joinCluster(masters); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	for i, d := range replicas {
		node, master := d.client(), masters[i].client()
		defer node.Close()
		defer master.Close()
		if err := master.ClusterMeet(ctx, loopback, strconv.Itoa(d.port)).Err(); err != nil {
			return fmt.Errorf("meet replica %d: %w", i, err)
		}
		id, err := master.ClusterMyID(ctx).Result()
		if err != nil {
			return fmt.Errorf("id of node %d: %w", i, err)
		}
		if err := poll(func(ctx context.Context) error { return node.ClusterReplicate(ctx, id).Err() }); err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
		if err := poll(func(ctx context.Context) error { return replicaReady(ctx, d) }); err != nil {
			return err
		}
	}
	all := slices.Concat(masters, replicas)
	return poll(func(ctx context.Context) error { return clusterReady(ctx, all, len(masters)) })
}

func clusterURL(daemons []*daemon) string {
	addrs := make([]string, len(daemons))
	for i, d := range daemons {
		addrs[i] = d.addr()
	}
	return asUser("redis-cluster://" + strings.Join(addrs, ","))
}

func launchCluster(binary, dir string) (daemons []*daemon, err error) {
	if daemons, err = launchNodes(binary, dir, clusterNodes); err != nil {
		return nil, err
	}
	if err = joinCluster(daemons); err == nil {
		err = poll(func(ctx context.Context) error { return clusterReady(ctx, daemons, len(daemons)) })
	}
	if err != nil {
		killAll(daemons)
	}
	return daemons, err
}

// launchNodes starts nodes that do not know each other. After an error none runs.
func launchNodes(binary, dir string, count int, options ...Option) (daemons []*daemon, err error) {
	for i := range count {
		home := filepath.Join(dir, "node"+strconv.Itoa(i))
		err := os.Mkdir(home, 0o700)
		if err == nil {
			var d *daemon
			if d, err = launch(binary, home, serverArgs(append(options, Args("--cluster-enabled", "yes"))...)); err == nil {
				daemons = append(daemons, d)
				continue
			}
		}
		killAll(daemons)
		return nil, fmt.Errorf("node %d: %w", i, err)
	}
	return daemons, nil
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

// clusterReady returns nil once every node knows every other, and the slots of the
// masters.
func clusterReady(ctx context.Context, daemons []*daemon, masters int) error {
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
			fmt.Sprintf("cluster_size:%d", masters),
		} {
			if !strings.Contains(info, want+"\r\n") {
				return fmt.Errorf("node %d: no %s in\n%s", i, want, info)
			}
		}
	}
	return nil
}
