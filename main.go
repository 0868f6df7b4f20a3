// Ushuru tells what a used Japanese car on a web page will really cost to put
// on the road in Tanzania. `go run . demo` shows it.
package main

import (
	"context"
	"os"
	"os/signal"

	"ushuru/pkg/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), cli.StopSignals()...)
	status := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(status)
}
