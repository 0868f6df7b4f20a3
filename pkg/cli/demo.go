package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/cli/caller"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

// demoCommand runs everything in one process on a machine where nothing is
// installed.
type demoCommand struct {
	Listen address `default:"127.0.0.1:8080" help:"Address of the API; another port is used when this one is taken."`
	Site   address `default:"127.0.0.1:8090" help:"Address of the SIMULATED listing site; likewise."`
	Once   bool    `help:"Print the estimate and exit."`
}

// demoRate is the default of KEY_RATE: the demo answers with the headers of a limit.
const demoRate = 300

// demoTimeout bounds the demo's own first estimate.
const demoTimeout = time.Minute

// Run is called by kong.
func (c *demoCommand) Run(r *run) error {
	if r.common.production() {
		return errors.New("the demo cannot run in production: its figures are simulated")
	}
	if !redisx.HasEmbedded {
		return errors.New("this is a production build: it has no Redis for the demo")
	}
	if r.common.LogLevel == "info" {
		r.log = newLog(r.Err, "error")
	}
	conn, err := r.connect(service.Redis{}, true, false)
	if err != nil {
		return err
	}
	running, err := demo.Start(r.ctx, demo.Options{
		Redis: conn, Log: r.log, Listen: string(c.Listen), Site: string(c.Site), Limits: pace.Limits{PerMinute: demoRate},
	})
	if err != nil {
		return err
	}
	r.cleanup.Add(running.Stop)
	estimate, err := firstEstimate(r.ctx, running)
	if err != nil {
		return err
	}
	if err := caller.Print(r.Out, *estimate, message.English); err != nil {
		return err
	}
	if c.Once {
		return nil
	}
	err = writeText(r.Out, "demo.tmpl", map[string]any{
		"URL": running.URL, "Key": running.Key, "Site": running.Site, "User": demo.OperatorUser, "Password": running.Password,
		"Cars": listingtest.Cars(), "Doubts": listingtest.Doubts(),
	})
	if err != nil {
		return err
	}
	err = running.Wait(r.ctx)
	_, _ = fmt.Fprintln(r.Out, "\nStopping.")
	return err
}

// firstEstimate requests an estimate from the demo's own API, as a caller
// would.
func firstEstimate(ctx context.Context, running *demo.Demo) (*vehicle.Estimate, error) {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	api, err := client.New(client.Options{URL: running.URL, Key: running.Key})
	if err != nil {
		return nil, err
	}
	estimate, err := api.Estimate(ctx, client.EstimateRequest{URL: running.Site + listingtest.Cars()[0].Path()})
	if err != nil {
		return nil, fmt.Errorf("the demo's estimate failed: %w", err)
	}
	return &estimate.Estimate, nil
}
