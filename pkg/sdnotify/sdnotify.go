// Package sdnotify tells systemd what the process is doing, as sd_notify(3) has it: that
// it is ready, that it is alive, that it stops. Without systemd it does nothing.
package sdnotify

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// The states of a service.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	alive    = "WATCHDOG=1"
)

// Send sends a state to systemd, if that started the process and wants to know.
func Send(ctx context.Context, state string) error {
	address := os.Getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	if name, is := strings.CutPrefix(address, "@"); is { // a socket without a file
		address = "\x00" + name
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", address)
	if err != nil {
		return fmt.Errorf("sdnotify: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("sdnotify: %w", err)
	}
	return nil
}

// Watch says that the process is alive, twice in the time that systemd gives it, until
// ctx ends. It returns at once when systemd does not watch this process.
func Watch(ctx context.Context) {
	every := interval() / 2
	if every <= 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		_ = Send(ctx, alive) // systemd notices when it hears nothing
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// interval returns how long systemd waits for a sign of life; 0 when it waits for none of
// this process.
func interval() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	micros, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || micros < 0 {
		return 0
	}
	return time.Duration(micros) * time.Microsecond
}
