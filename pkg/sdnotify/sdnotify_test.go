package sdnotify_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"ushuru/pkg/sdnotify"
)

// listen is systemd: it returns the next message of the process.
func listen(t *testing.T, address string) func() string {
	t.Helper()
	name := address
	if name[0] == '@' {
		name = "\x00" + name[1:]
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", address)
	return func() string {
		if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		message := make([]byte, 100)
		n, err := conn.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
}

func TestSystemdHearsTheStates(t *testing.T) {
	for _, address := range []string{filepath.Join(t.TempDir(), "s"), "@ushuru-test-" + strconv.Itoa(os.Getpid())} {
		next := listen(t, address)
		for _, state := range []string{sdnotify.Ready, sdnotify.Stopping} {
			if err := sdnotify.Send(t.Context(), state); err != nil {
				t.Fatal(err)
			}
			if got := next(); got != state {
				t.Errorf("%s: systemd heard %q", address, got)
			}
		}
	}
}

func TestWithoutSystemdNothingIsSaid(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := sdnotify.Send(t.Context(), sdnotify.Ready); err != nil {
		t.Error(err)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	if err := sdnotify.Send(t.Context(), sdnotify.Ready); err == nil {
		t.Error("a socket where nothing listens is no error")
	}
	for _, usec := range []string{"", "0", "-1", "soon"} {
		t.Setenv("WATCHDOG_USEC", usec)
		sdnotify.Watch(t.Context()) // returns
	}
	t.Setenv("WATCHDOG_USEC", "1000000")
	t.Setenv("WATCHDOG_PID", "1")
	sdnotify.Watch(t.Context()) // is about another process
}

func TestTheWatchdogHearsOfThisProcessUntilItEnds(t *testing.T) {
	next := listen(t, filepath.Join(t.TempDir(), "s"))
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		sdnotify.Watch(ctx)
		close(ended)
	}()
	for range 3 {
		if got := next(); got != "WATCHDOG=1" {
			t.Errorf("systemd heard %q", got)
		}
	}
	cancel()
	<-ended
}
