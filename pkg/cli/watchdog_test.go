package cli

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// A process says that it is alive until it ends, and says nothing of another process.
func TestTheWatchdogHearsOfThisProcessUntilItEnds(t *testing.T) {
	address := filepath.Join(t.TempDir(), "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	t.Setenv("NOTIFY_SOCKET", address)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "1")
	new(run).feedWatchdog(t.Context()) // returns
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		new(run).feedWatchdog(ctx)
		close(ended)
	}()
	message := make([]byte, 100)
	for range 3 {
		n, err := conn.Read(message)
		if got := string(message[:n]); err != nil || got != "WATCHDOG=1" {
			t.Errorf("systemd heard %q, %v, want WATCHDOG=1", got, err)
		}
	}
	cancel()
	<-ended
}
