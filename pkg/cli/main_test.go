package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"ushuru/pkg/redisx/redistest"
)

// The test binary is also the program "ushuru".
func TestMain(m *testing.M) {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)})
	testscript.Main(m, map[string]func(){
		"ushuru": func() { exit(Main) },
	})
}

func exit(main func(context.Context, []string, Streams) int) {
	ctx, stop := signal.NotifyContext(context.Background(), StopSignals()...)
	defer stop()
	os.Exit(main(ctx, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})) //nolint:gocritic // the process ends
}

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/scripts", "")
}

func TestScriptsWithRedis(t *testing.T) {
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
