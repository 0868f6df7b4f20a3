package redistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"

	// A cluster node listens on its port and, for the other nodes, on the port
	// that is higher by this.
	busOffset = 10_000
	maxPort   = 65_535
)

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// freePort returns a port that was just free, as was the port of the cluster bus
// above it. Another process may take it first, so the caller retries.
func freePort() (int, error) {
	const tries = 100
	for range tries {
		port, err := listenOnce(0)
		if err != nil {
			return 0, err
		}
		if port+busOffset > maxPort {
			continue
		}
		if _, err := listenOnce(port + busOffset); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port among %d", tries)
}

func listenOnce(port int) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address(port))
	if err != nil {
		return 0, fmt.Errorf("look for a free port: %w", err)
	}
	defer listener.Close()
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%v is no TCP address", listener.Addr())
	}
	return addr.Port, nil
}
