// Lab is the laboratory: it measures and evaluates the service. `go run ./pkg/lab bench all`
// runs every benchmark.
package main

import (
	"context"
	"os"
	"os/signal"

	"ushuru/pkg/cli"
	"ushuru/pkg/lab/commands"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), cli.StopSignals()...)
	status := commands.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(status)
}
