package redistest_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

const orphanMark = "servers of the orphan: "

// dumpAndDie prints where the servers are and ends the process without cleanup.
func dumpAndDie(t *testing.T, conn *redisx.Conn) {
	cluster, ok := conn.Client().(*redis.ClusterClient)
	if !ok {
		t.Fatal("not a cluster")
	}
	fmt.Fprintln(os.Stdout, orphanMark+strings.Join(cluster.Options().Addrs, ","))
	self, err := os.FindProcess(os.Getpid())
	must(t, err)
	must(t, self.Kill())
	select {}
}

func awaitGone(t *testing.T, addrs string) {
	t.Helper()
	for addr := range strings.SplitSeq(addrs, ",") {
		eventually(t, addr+" is gone", func(ctx context.Context) bool {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", addr)
			if err == nil {
				_ = conn.Close()
			}
			return err != nil
		})
	}
}

// TestServersDieWithTheProcess runs a test binary that is killed while its
// servers run.
func TestServersDieWithTheProcess(t *testing.T) {
	testenv.Long(t)
	testenv.Binary(t, "redis-server", "valkey-server")
	if os.Getenv("REDISTEST_ORPHAN") == "1" {
		redistest.Each(t, dumpAndDie)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServersDieWithTheProcess$/^cluster$")
	cmd.Env = append(os.Environ(), "REDISTEST_ORPHAN=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the process was not killed: %s", out)
	}
	_, text, _ := strings.Cut(string(out), orphanMark)
	url, _, found := strings.Cut(text, "\n")
	if !found {
		t.Fatalf("no URL in %s", out)
	}
	awaitGone(t, url)
}
