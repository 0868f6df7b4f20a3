// Package e2e holds what drives the whole program: its command line, a service in
// processes of its own, attacks on it, faults of Redis and of others, the runbook's
// alerts, the demo, and the commands of the documents. It is one package so that the
// program is linked once for all of them.
//
// An attack is measured with a victim, without and with an attacker who has one key and
// its default limits; `make attacks` (USHURU_ATTACK=full) runs attacks in full and prints
// their table. `make night` provokes every alert with a real Prometheus, looks where an
// operator looks, and ends it with the command of docs/night.md.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"ushuru/pkg/cli"
	"ushuru/pkg/lab/commands"
	"ushuru/pkg/redisx/redistest"
)

var update = flag.Bool("update", false, "write what attacks and alerts showed into SECURITY.md and night.md")

// waiting is how many tests run beside one another for each processor: they wait more than
// they work.
const waiting = 4

// The test binary is also the program "ushuru".
func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	_ = flag.Set("test.parallel", strconv.Itoa(waiting*runtime.GOMAXPROCS(0)))
	_ = os.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20") // traces are sent at once
	testscript.Main(tabled{m}, map[string]func(){
		"ushuru": func() { os.Exit(program(cli.Main)) },
		"lab":    func() { os.Exit(program(laboratory)) },
	})
}

// laboratory has the signature of cli.Main.
func laboratory(ctx context.Context, args []string, streams cli.Streams, _ ...any) int {
	return commands.Main(ctx, args, streams)
}

func program(run func(context.Context, []string, cli.Streams, ...any) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), cli.StopSignals()...)
	defer stop()
	return run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// programWith runs a command line in a process of its own, with more variables, and returns
// its exit status and what it prints.
func programWith(t *testing.T, env []string, args ...string) (int, string) {
	t.Helper()
	path, err := exec.LookPath("ushuru")
	must(t, err)
	process := exec.CommandContext(t.Context(), path, args...)
	process.Env = append(os.Environ(), env...)
	out, err := process.CombinedOutput()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return exit.ExitCode(), string(out)
	}
	must(t, err)
	return 0, string(out)
}

// runWith runs a command line and returns its status and what it prints.
func runWith(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return status, stdout.String(), stderr.String()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/scripts", "")
}

func TestScriptsWithRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	runScripts(t, "testdata/redis", server.URL)
}

// runScripts runs the scripts of a folder with no settings of the machine's.
func runScripts(t *testing.T, dir, redisURL string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REDIS_URL", redisURL)
			env.Setenv("DRAIN_DELAY", "0s")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}

// status WANT PROGRAM ARGS... runs a program and compares its exit status.
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}
