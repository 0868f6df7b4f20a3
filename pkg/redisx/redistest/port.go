package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

const (
	loopback = "127.0.0.1"

	// A cluster node listens on its port and, for the other nodes, on the port
	// that is higher by this.
	busOffset = 10_000
)

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// FreeAddress returns an address of this machine on which nothing listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return address(port)
}

// freePort returns a port that was just free, as was the port of the cluster bus
// above it. Both are below those that systems choose for connections, so that hardly
// another process takes it first; a caller who can retries all the same.
func freePort() (int, error) {
	const first, ports, tries = 10_000, 12_000, 100
	for range tries {
		port := first + rand.IntN(ports) //nolint:gosec // no secret
		if isFree(port) && isFree(port+busOffset) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port among %d", tries)
}

func isFree(port int) bool {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address(port))
	return err == nil && listener.Close() == nil
}
