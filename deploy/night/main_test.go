// Package night holds the drill of the alerts: the real program in processes of its own,
// simulators of everything else, and a real Prometheus with deploy/prometheus/alerts.yml.
// Each alert is provoked, is seen by an operator in all places, and ends with the command
// of its runbook, docs/night.md, whose outputs the drill writes. `make night` runs it
// whole; go test runs two alerts.
package night

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ushuru/pkg/cli"
)

var (
	whole  = flag.Bool("night", false, "provoke every alert")
	only   = flag.String("night.only", "", "provoke the alerts whose name matches, with -night")
	update = flag.Bool("update", false, "write the outputs into docs/night.md, with -night")
)

// The test binary is also the program "ushuru".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ushuru": func() {
		ctx, stop := signal.NotifyContext(context.Background(), cli.StopSignals()...)
		status := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		stop()
		os.Exit(status)
	}})
}
