package e2e

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/redisx/redistest"
)

// A terminal that closes must not end a process without a word.
func TestHangupStopsAsTermDoes(t *testing.T) {
	t.Parallel()
	// Where SIGHUP is ignored, as under nohup, a child would inherit that; what is
	// caught it does not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	server := redistest.Start(t)
	p, err := clitest.Start(t, "API listening", "api", "--allow-loopback", "--redis-url", server.URL, "--listen", "127.0.0.1:0",
		"--drain-delay", "0s")
	must(t, err)
	must(t, p.Signal(syscall.SIGHUP))
	select {
	case <-p.Over:
	case <-time.After(20 * time.Second):
		t.Fatal("it runs on")
	}
	err = p.Wait()
	if said := p.Tail(); err != nil || !strings.Contains(said, "hangup") || !strings.Contains(said, "API stopped") {
		t.Errorf("%v: %s", err, said)
	}
}
