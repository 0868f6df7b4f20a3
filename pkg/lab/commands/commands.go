// Package commands is the command line of the laboratory: that of the product, with what
// measures and evaluates it.
package commands

import (
	"context"

	"ushuru/pkg/cli"
)

// laboratory is what the laboratory adds to the commands of the product, which it starts
// as processes of its own.
type laboratory struct {
	Eval  evalCommand  `cmd:"" help:"Evaluate matching against labelled cases."`
	Bench benchCommand `cmd:"" help:"Run benchmarks."`
}

// Main runs a command line and returns the exit status. It ends early when ctx does.
func Main(ctx context.Context, args []string, streams cli.Streams) int {
	return cli.Main(ctx, args, streams, &laboratory{})
}
