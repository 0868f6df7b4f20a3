package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/operate"
	"ushuru/pkg/tra"
)

// authorityCommand is about the authority's calculator and the copy of its lists.
type authorityCommand struct {
	Check authorityCheckCommand `cmd:"" help:"Make each call of TRA's calculator in turn from this machine, with a worker's settings, and say which fails."`

	Sync authoritySyncCommand `cmd:"" help:"Have a worker copy TRA's makes and labels now."`
}

// authoritySyncCommand requests a sync of a worker with the role authority, because
// TRA answers addresses in Tanzania only.
type authoritySyncCommand struct {
	redisConfig
	console.Answer

	Accept bool          `help:"Take lists that differ so much from the previous ones that they would be quarantined."`
	Wait   time.Duration `default:"6m"                                                                                 help:"How long to wait for the worker."`
}

// syncPollInterval is how often the command looks whether the sync has ended.
const syncPollInterval = 250 * time.Millisecond

// Run is called by kong. It prints the report of the sync as JSON.
func (c *authoritySyncCommand) Run(r *run) error {
	o, err := r.operator(c.redisConfig)
	if err != nil {
		return err
	}
	id, err := o.Sync(r.ctx, tra.SyncOptions{All: true, Accept: c.Accept})
	if err != nil {
		return err
	}
	outcome, err := c.await(r.ctx, o, id)
	if err != nil {
		return err
	}
	if err := c.Print(r.Streams, outcome.Report); err != nil {
		return err
	}
	switch {
	case outcome.Error != "":
		return errors.New(outcome.Error)
	case outcome.Report.Quarantined != "":
		return errors.New("the lists differ so much from the previous ones that those stay; " +
			"check them on TRA's website, and take them with --accept")
	}
	return nil
}

// await returns the outcome of the requested sync.
func (c *authoritySyncCommand) await(ctx context.Context, o *operate.Operator, id string) (*tra.SyncOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	ticker := time.NewTicker(syncPollInterval)
	defer ticker.Stop()
	for {
		outcome, err := o.SyncOutcome(ctx, id)
		if outcome != nil || err != nil && ctx.Err() == nil {
			return outcome, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no worker with the role authority has ended the sync: %w", ctx.Err())
		case <-ticker.C:
		}
	}
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
	err = console.List(r.Streams, c.Format, calls, "CALL\tASKED\tOUTCOME\tMS\tGOT", func(call tra.CheckedCall) []string {
		outcome := "ok"
		if !call.OK {
			outcome = "FAILED"
		}
		return []string{call.Call, call.Asked, outcome, strconv.FormatInt(call.TookMS, 10), call.Got}
	})
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
