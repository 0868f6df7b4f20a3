// Package attack holds attacks on the service as tests: the real program in
// processes of its own, a victim whose figures are measured without and with the
// attack, and an attacker with one key inside its default limits. go test runs
// each attack in a short form; `make attacks` (USHURU_ATTACK=full) runs it in
// full and prints the table.
package attack

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"ushuru/pkg/cli"
)

// full reports whether the attacks run at their full strength.
func full() bool { return os.Getenv("USHURU_ATTACK") == "full" }

// pick returns the one for the run in full or the one for go test.
func pick[T any](inFull, short T) T {
	if full() {
		return inFull
	}
	return short
}

// The test binary is also the program "ushuru".
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	testscript.Main(tabled{m}, map[string]func(){"ushuru": program})
}

func program() {
	ctx, stop := signal.NotifyContext(context.Background(), cli.StopSignals()...)
	status := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(status)
}

// tabled runs the tests and prints the table of the attacks after them.
type tabled struct{ *testing.M }

func (m tabled) Run() int {
	status := m.M.Run()
	printTable(os.Stdout)
	return status
}

type quiet struct{}

func (quiet) Printf(ctx context.Context, format string, _ ...any) {
	slog.New(slog.DiscardHandler).DebugContext(ctx, format)
}
