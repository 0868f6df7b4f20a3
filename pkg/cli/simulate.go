package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/pkg/cli/caller"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/sheet/sheettest"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
)

// demoRate is the default of KEY_RATE: the demo answers with the headers of a limit.
const demoRate = 300

// demoTimeout bounds the demo's own first estimate.
const demoTimeout = time.Minute

// demoCommand runs everything in one process on a machine where nothing is
// installed.
type demoCommand struct {
	Listen address `default:"127.0.0.1:8080" help:"Address of the API; another port is used when this one is taken."`
	Site   address `default:"127.0.0.1:8090" help:"Address of the SIMULATED listing site; likewise."`
	Once   bool    `help:"Print the estimate and exit."`
}

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

// simulateCommand runs simulators, for demo and tests.
type simulateCommand struct {
	Authority simulateAuthority `cmd:"" help:"The tax authority's calculator, with faults on demand."`
	Site      simulateSite      `cmd:"" help:"A listing site with a few cars and some hostile pages."`
	AI        simulateAI        `cmd:"" name:"ai" help:"A language model behind the OpenAI chat API, with faults on demand."`
	Sheets    simulateSheets    `cmd:"" help:"Auction sheets whose correct reading is known, drawn with Debian's Japanese fonts."`
}

// simulateAuthority is the SIMULATED calculator. Its faults can also be
// changed while it runs: POST /_sim/faults.
type simulateAuthority struct {
	tratest.Faults

	Listen address         `default:"127.0.0.1:8091" help:"Address to listen on."`
	Seed   uint64          `help:"Random seed."`
	Date   time.Time       `format:"2006-01-02" help:"Day that decides ages, rules and the quarter; the default is today."`
	FX     decimal.Decimal `name:"fx" default:"2565.98" help:"Shillings per dollar."`
}

// Run is called by kong.
func (c *simulateAuthority) Run(r *run) error {
	simulator, err := tratest.New(tratest.Options{
		Seed: c.Seed, Date: c.Date, FX: c.FX, Faults: c.Faults,
	})
	if err != nil {
		return err
	}
	return r.simulate(c.Listen, simulator, func(base string) string {
		return "SIMULATED authority: AUTHORITY_URL=" + base + tratest.Path
	})
}

// simulateSite is the SIMULATED listing site.
type simulateSite struct {
	Listen address `default:"127.0.0.1:8090" help:"Address to listen on."`
}

// Run is called by kong.
func (c *simulateSite) Run(r *run) error {
	return r.simulate(c.Listen, listingtest.New(), func(base string) string {
		var lines strings.Builder
		lines.WriteString("SIMULATED listing site:")
		for _, car := range listingtest.Cars() {
			lines.WriteString("\n  " + base + car.Path())
		}
		return lines.String()
	})
}

// simulateAI is the SIMULATED language model. Its faults can also be changed
// while it runs: POST /_sim/faults.
type simulateAI struct {
	aitest.Faults

	Listen  address  `default:"127.0.0.1:8092" help:"Address to listen on."`
	Key     string   `help:"The only accepted API key; any key by default."`
	Models  []string `help:"Models that exist; all by default."`
	Context int      `help:"Tokens that fit into the model."`
	Seed    uint64   `help:"Random seed."`
}

// Run is called by kong.
func (c *simulateAI) Run(r *run) error {
	simulator := aitest.New(aitest.Options{
		Key: c.Key, Models: c.Models, Context: c.Context, Seed: c.Seed, Faults: c.Faults,
	})
	return r.simulate(c.Listen, simulator, func(base string) string {
		return "SIMULATED AI: AI_BASE_URL=" + base + aitest.Path + " AI_MODEL=simulated AI_API_KEY=" + cmp.Or(c.Key, "any")
	})
}

// simulateSheets draws SIMULATED auction sheets.
type simulateSheets struct {
	Out string   `required:"" placeholder:"DIR" type:"path" help:"Directory for ID.jpg, and for ID.json with what is printed on it."`
	IDs []string `arg:"" optional:"" name:"id" help:"Seeds, or names of special sheets and of the demo's sheets; all by default."`
}

// Run is called by kong.
func (c *simulateSheets) Run(r *run) error { return sheettest.WriteFiles(r.Out, c.Out, c.IDs) }

// simulate serves a simulator until the signal to stop, and prints how
// to use it at its URL.
func (r *run) simulate(at address, simulator http.Handler, usage func(base string) string) error {
	listener, err := app.Listen(r.ctx, string(at))
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	stop := app.Serve(listener, simulator, func(err error) { failed <- err })
	defer stop()
	if _, err := fmt.Fprintln(r.Out, usage("http://"+listener.Addr().String())); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	case <-r.ctx.Done():
		return nil
	}
}
