package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const masterName = "ushuru"

// How long a master that does not answer counts as alive: short where a test needs
// a failover, long where a busy machine must not cause one.
const (
	failoverAfter = 500 * time.Millisecond
	neverFailOver = 10 * time.Minute
)

// SentinelSet is a master, its replica, and one Sentinel, which promotes the replica
// half a second after the master's last answer.
type SentinelSet struct {
	Master, Replica *Server
	Sentinel        *Server // its URL is not that of a data server
	URL             string  // redis-sentinel://…
}

// Sentinel starts a set for the time of the test.
func Sentinel(t testing.TB) *SentinelSet {
	t.Helper()
	daemons, err := launchSentinel(needRedis(t), t.TempDir(), failoverAfter)
	if err != nil {
		t.Fatalf("redistest: sentinel: %v", err)
	}
	return &SentinelSet{
		Master:   own(t, daemons[0]),
		Replica:  own(t, daemons[1]),
		Sentinel: own(t, daemons[2]),
		URL:      sentinelURL(daemons),
	}
}

// SentinelOf starts a replica of a server that runs, and a Sentinel that watches both.
func SentinelOf(t testing.TB, master *Server) *SentinelSet {
	t.Helper()
	_, port, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	replica := Start(t, Args("--repl-diskless-sync-delay", "0", "--replicaof", loopback, port))
	ready := []func(context.Context) error{
		func(ctx context.Context) error { return replicaReady(ctx, replica.daemon) },
		func(ctx context.Context) error { return replicates(ctx, master.daemon) },
	}
	home := t.TempDir()
	for _, is := range ready {
		if err := poll(is); err != nil {
			t.Fatalf("redistest: replica: %v", err)
		}
	}
	d, err := launch(needRedis(t), home, func(port int) ([]string, error) {
		return sentinelArgs(port, home, master.daemon.port, failoverAfter)
	})
	if err == nil {
		err = poll(func(ctx context.Context) error { return sentinelReady(ctx, d) })
	}
	if err != nil {
		t.Fatalf("redistest: sentinel: %v", err)
	}
	return &SentinelSet{
		Master: master, Replica: replica, Sentinel: own(t, d), URL: sentinelURL([]*daemon{master.daemon, replica.daemon, d}),
	}
}

func sentinelURL(daemons []*daemon) string {
	return asUser("redis-sentinel://" + daemons[2].addr() + "?master=" + masterName)
}

// launchSentinel returns master, replica and Sentinel.
func launchSentinel(binary, dir string, downAfter time.Duration) (daemons []*daemon, err error) {
	defer func() {
		if err != nil {
			killAll(daemons)
		}
	}()
	add := func(name string, args func(int, string) ([]string, error)) error {
		home := filepath.Join(dir, name)
		if err := os.Mkdir(home, 0o700); err != nil {
			return fmt.Errorf("directory of the %s: %w", name, err)
		}
		d, err := launch(binary, home, func(port int) ([]string, error) { return args(port, home) })
		if err == nil {
			daemons = append(daemons, d)
		}
		return err
	}
	// The delay lets a master serve several replicas at once; there is only one.
	noDelay := Args("--repl-diskless-sync-delay", "0")
	if err := add("master", func(port int, _ string) ([]string, error) {
		return serverArgs(noDelay)(port)
	}); err != nil {
		return daemons, err
	}
	if err := add("replica", func(port int, _ string) ([]string, error) {
		return serverArgs(noDelay, Args("--replicaof", loopback, strconv.Itoa(daemons[0].port)))(port)
	}); err != nil {
		return daemons, err
	}
	// A Sentinel asks its master for replicas at once and then every ten
	// seconds: the replica must be there before.
	if err := poll(func(ctx context.Context) error { return replicaReady(ctx, daemons[1]) }); err != nil {
		return daemons, err
	}
	if err := poll(func(ctx context.Context) error { return replicates(ctx, daemons[0]) }); err != nil {
		return daemons, err
	}
	if err := add("sentinel", func(port int, home string) ([]string, error) {
		return sentinelArgs(port, home, daemons[0].port, downAfter)
	}); err != nil {
		return daemons, err
	}
	return daemons, poll(func(ctx context.Context) error { return sentinelReady(ctx, daemons[2]) })
}

func sentinelArgs(port int, home string, master int, downAfter time.Duration) ([]string, error) {
	path := filepath.Join(home, "sentinel.conf")
	config := fmt.Sprintf(`port %d
bind %s
dir %q
sentinel monitor %s %s %d 1
sentinel down-after-milliseconds %[4]s %[7]d
sentinel failover-timeout %[4]s 5000
`, port, loopback, home, masterName, loopback, master, downAfter.Milliseconds())
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("configuration of the Sentinel: %w", err)
	}
	return []string{path, "--sentinel"}, nil
}

func replicaReady(ctx context.Context, replica *daemon) error {
	client := replica.client()
	defer client.Close()
	info, err := client.Info(ctx, "replication").Result()
	if err != nil {
		return fmt.Errorf("ask the replica: %w", err)
	}
	if !strings.Contains(info, "master_link_status:up\r\n") {
		return fmt.Errorf("the replica has no link to its master:\n%s", info)
	}
	return nil
}

// replicates fails until a replica of the master confirms what it is sent. A replica has
// its link up to a second before that.
func replicates(ctx context.Context, master *daemon) error {
	client := master.client()
	defer client.Close()
	pipe := client.Pipeline()
	pipe.Publish(ctx, "ready", "") // is sent to the replica, and changes no key
	confirmed := pipe.Do(ctx, "WAIT", 1, time.Second.Milliseconds())
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("wait for the replica: %w", err)
	}
	if confirmed.Val() != int64(1) {
		return fmt.Errorf("%v replicas confirm what they are sent", confirmed.Val())
	}
	return nil
}

func sentinelReady(ctx context.Context, d *daemon) error {
	client := redis.NewSentinelClient(&redis.Options{Addr: d.addr()})
	defer client.Close()
	master, err := client.Master(ctx, masterName).Result()
	if err != nil {
		return fmt.Errorf("ask the Sentinel: %w", err)
	}
	if master["flags"] != "master" || master["num-slaves"] != "1" {
		return fmt.Errorf("the Sentinel sees %s with %s replicas", master["flags"], master["num-slaves"])
	}
	return nil
}
