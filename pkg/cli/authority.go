package cli

import (
	"fmt"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/operator"
	"ushuru/pkg/tra"
)

// authorityCommand is about the authority's calculator and the copy of its lists.
type authorityCommand struct {
	Check authorityCheckCommand `cmd:"" help:"Make each call of TRA's calculator in turn from this machine, with a worker's settings, and say which fails."`

	Sync operator.Sync `cmd:"" help:"Have a worker copy TRA's makes and labels now."`
}

// authorityCheckCommand calls TRA's calculator as a worker does.
type authorityCheckCommand struct {
	authorityConfig
	console.Format

	Make string `help:"Make of the vehicle that is asked for; without it TOYOTA." placeholder:"MAKE"`
}

// adviceOf says what to do about a kind of failure.
var adviceOf = map[tra.Kind]string{
	tra.Refused:       "TRA answers addresses in Tanzania only: run a worker there, or set AUTHORITY_PROXY.",
	tra.Unavailable:   "Look whether TRA's website answers a browser. Known vehicles are still answered from the cache.",
	tra.Certificate:   "A proxy may open TLS, or a certificate has expired: set AUTHORITY_CA_FILE to one that you trust.",
	tra.BadAnswer:     "The answer has another form than before: TRA may have changed its calculator.",
	tra.NoSuchVehicle: "TRA lists the vehicle and has no tax for it: try another --make.",
}

// Run is called by kong. It exits with 3 when a call has failed.
func (c *authorityCheckCommand) Run(r *run) error {
	client, err := tra.NewClient(c.options())
	if err != nil {
		return err
	}
	defer client.Close()
	calls := client.Check(r.ctx, c.Make)
	err = console.Listed("CALL\tASKED\tOUTCOME\tMS\tGOT", func(call tra.CheckedCall) []any {
		outcome := "ok"
		if !call.OK {
			outcome = "FAILED"
		}
		return []any{call.Call, call.Asked, outcome, call.TookMS, call.Got}
	})(calls)(r.Streams, c.Format)
	last := calls[len(calls)-1]
	if err != nil || last.OK {
		return err
	}
	if !c.JSON() {
		_, _ = fmt.Fprintf(r.Err, "%s fails: %s\n", last.Call, console.Printable(last.Error))
		for _, line := range []string{last.Answer, adviceOf[last.Kind]} {
			if line != "" {
				_, _ = fmt.Fprintln(r.Err, console.Printable(line))
			}
		}
	}
	return console.ExitError{Status: console.ExitRefused}
}
