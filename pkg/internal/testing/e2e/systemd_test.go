package e2e

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/redisx/redistest"
)

// The process tells systemd that it is ready, that it is alive, and that it stops.
func TestTheProcessTellsSystemd(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	until := func(state string) {
		t.Helper()
		must(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
		for message := make([]byte, 100); ; {
			n, err := conn.Read(message)
			heard := string(message[:n])
			switch {
			case err != nil || heard != state && heard != "WATCHDOG=1":
				t.Fatalf("systemd waits for %s and hears %q, %v", state, heard, err)
			case heard == state:
				return
			}
		}
	}
	p, err := clitest.StartProgram(t, "ushuru", []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=200000"}, "API listening",
		"api", "--allow-loopback", "--redis-url", redistest.Start(t).URL, "--listen", "127.0.0.1:0", "--drain-delay", "0s")
	must(t, err)
	until("READY=1")
	until("WATCHDOG=1")
	must(t, p.Signal(syscall.SIGTERM))
	until("STOPPING=1")
	must(t, p.Wait())
}
