package redistest_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

const orphanMark = "servers of the orphan: "

// dumpAndDie tells where the servers are and ends the process without any
// cleanup.
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
