package cli

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/tra/tratest"
)

// simulateCommand runs simulators, for demo and tests.
type simulateCommand struct {
	Authority simulateAuthority `cmd:"" help:"The tax authority's calculator, with faults on demand."`
	Site      simulateSite      `cmd:"" help:"A listing site with a few cars and some hostile pages."`
	AI        simulateAI        `cmd:"" name:"ai" help:"A language model behind the OpenAI chat API, with faults on demand."`
	Sheets    simulateSheets    `cmd:"" help:"Auction sheets whose right reading is known, drawn with Debian's Japanese fonts."`
}

// simulateAuthority is the SIMULATED calculator. Its faults can also be
// changed while it runs: POST /_sim/faults.
type simulateAuthority struct {
	Listen address         `default:"127.0.0.1:8091" help:"Address to listen on."`
	Seed   uint64          `help:"Of make ids and random faults."`
	Date   time.Time       `format:"2006-01-02" help:"Day that decides ages, rules and the quarter; today by default."`
	FX     decimal.Decimal `name:"fx" default:"2565.98" help:"Shillings for one dollar."`

	Latency        time.Duration `help:"Before each answer."`
	Jitter         time.Duration `help:"Up to so much more."`
	Calls          []string      `help:"Misbehave in these calls only, for example getYom."`
	Next           int           `help:"Misbehave so many times only."`
	ErrorRate      float64       `help:"Share of requests that fail, 0 to 1."`
	Status         int           `help:"HTTP status of failing requests."`
	HTML           bool          `name:"html" help:"Answer with a maintenance page and status 200."`
	RefuseRegion   bool          `help:"Refuse, as from outside Tanzania."`
	EmptyLists     bool          `help:"Answer with empty lists."`
	DropConnection bool          `help:"Close without an answer."`
	TruncatedBody  bool          `help:"Close in the middle of the answer."`
	SlowBody       time.Duration `help:"Time that the body takes."`
}

// Run is called by kong.
func (c *simulateAuthority) Run(r *run) error {
	defer r.close()
	simulator, err := tratest.New(tratest.Options{
		Seed: c.Seed, Date: c.Date, FX: c.FX, Faults: tratest.Faults{
			Latency: tratest.Duration(c.Latency), Jitter: tratest.Duration(c.Jitter), Calls: c.Calls, Next: c.Next,
			ErrorRate: c.ErrorRate, Status: c.Status, HTML: c.HTML, RefuseRegion: c.RefuseRegion, EmptyLists: c.EmptyLists,
			DropConnection: c.DropConnection, TruncatedBody: c.TruncatedBody, SlowBody: tratest.Duration(c.SlowBody),
		},
	})
	if err != nil {
		return err
	}
	listener, err := r.listen(c.Listen)
	if err != nil {
		return err
	}
	r.serve(listener, simulator)
	_, _ = fmt.Fprintf(r.Out, "SIMULATED authority: AUTHORITY_URL=http://%s%s\n", listener.Addr(), tratest.Path)
	return r.untilStopped()
}

// simulateSite is the SIMULATED listing site.
type simulateSite struct {
	Listen address `default:"127.0.0.1:8090" help:"Address to listen on."`
}

// Run is called by kong.
func (c *simulateSite) Run(r *run) error {
	defer r.close()
	listener, err := r.listen(c.Listen)
	if err != nil {
		return err
	}
	r.serve(listener, listingtest.New())
	_, _ = fmt.Fprintln(r.Out, "SIMULATED listing site:")
	for _, car := range listingtest.Cars() {
		_, _ = fmt.Fprintf(r.Out, "  http://%s%s\n", listener.Addr(), car.Path())
	}
	return r.untilStopped()
}

// serve serves something beside the API until the end.
func (r *run) serve(listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("a server stopped", "error", err)
		}
	}()
	r.onClose(func() { _ = server.Close() })
}
