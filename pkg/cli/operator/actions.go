// Package operator is the commands that only the operator of a service has, over Redis: what has no
// twin for a caller.
package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/drift"
	"ushuru/pkg/fetch"
	"ushuru/pkg/operate"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra"
)

// syncPollInterval is how often the command looks whether the sync has ended.
const syncPollInterval = 250 * time.Millisecond

// Cache is about what is cached.
type Cache struct {
	Drop cacheDrop `cmd:"" help:"Delete what is cached of a listing, or of a vehicle of TRA."`
}

type cacheDrop struct {
	service.Action

	URL       string `arg:"" help:"URL of the listing; without it the vehicle is given by flags." optional:""`
	Make      string `help:"Make, as TRA spells it."`
	ModelBody string `help:"Label of the model, as TRA spells it."`
	Year      int    `help:"Year of manufacture; without it all years."`
	Country   string `help:"Country of origin; without it all countries."`
	Fuel      string `help:"Fuel type, as TRA spells it; without it all."`
	Engine    string `help:"Engine capacity, as TRA spells it: \"1001 - 1500 CC\"; without it all."`
}

// Run is called by kong.
func (c *cacheDrop) Run(s *service.Session) error {
	tuple := tra.Tuple{
		Make: c.Make, ModelBody: c.ModelBody, YOM: c.Year, Country: c.Country, Fuel: c.Fuel, Capacity: c.Engine,
	}
	if (c.URL == "") == (tuple == tra.Tuple{}) {
		return console.Usage("give the URL of a listing, or a vehicle with --make and --model-body")
	}
	show := func(d operate.Dropped) console.Printed {
		return console.Record(d, "Results", d.Results, "Calculations", d.Calculations, "Refusals", d.Refusals)
	}
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		if c.URL != "" {
			return console.As(show)(o.DropURL(ctx, c.URL))
		}
		return console.As(show)(o.DropTuple(ctx, tuple))
	})
}

// Sites is about the sites that pages are fetched from.
type Sites struct {
	List   sitesList   `cmd:"" help:"List the sites that are paused."`
	Pause  sitesPause  `cmd:"" help:"Request no pages of a site for a time."`
	Resume sitesResume `cmd:"" help:"End the pauses of a site, also those that it has asked for."`
}

type sitesList struct{ service.Action }

// Run is called by kong.
func (c *sitesList) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		return console.As(console.Listed("HOST\tPAUSED UNTIL\tBY", func(p fetch.Pause) []any {
			by := "the site"
			if p.ByOperator {
				by = "an operator"
			}
			return []any{p.Host, p.Until, by}
		}))(o.SitePauses(ctx))
	})
}

type sitesPause struct {
	service.Action

	Site string        `arg:"" help:"Host, or name of a known site."`
	For  time.Duration `default:"1h" help:"For how long, at most 720h."`
}

// Run is called by kong.
func (c *sitesPause) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		hosts, err := o.PauseSite(ctx, c.Site, c.For)
		until := time.Now().Add(c.For).Truncate(time.Second)
		record := map[string]any{"hosts": hosts, "until": until}
		said := console.Said(record, "paused until %s: %s", console.Time(until), strings.Join(hosts, ", "))
		return console.After(said, err)
	})
}

type sitesResume struct {
	service.Action

	Site string `arg:"" help:"Host, or name of a known site."`
}

// Run is called by kong.
func (c *sitesResume) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		n, err := o.ResumeSite(ctx, c.Site)
		return console.After(console.Said(map[string]int{"pausesEnded": n}, "%d pauses ended", n), err)
	})
}

// Queues is about the queues of tasks, which ushuru status lists.
type Queues struct {
	Pause  queuesPause  `cmd:"" help:"Have no worker take tasks of a queue until it is resumed."`
	Resume queuesResume `cmd:"" help:"Have workers take the tasks of a queue again."`
}

// ofQueue is a command about one queue.
type ofQueue struct {
	service.Action

	Queue string `arg:"" help:"Name of the queue."`
}

type queuesPause struct{ ofQueue }

// Run is called by kong.
func (c *queuesPause) Run(s *service.Session) error {
	return c.change(s, true, (*operate.Operator).PauseQueue)
}

type queuesResume struct{ ofQueue }

// Run is called by kong.
func (c *queuesResume) Run(s *service.Session) error {
	return c.change(s, false, (*operate.Operator).ResumeQueue)
}

// change changes whether the queue is paused.
func (c *ofQueue) change(s *service.Session, paused bool, do func(*operate.Operator, context.Context, string) error) error {
	word := "resumed"
	if paused {
		word = "paused"
	}
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		said := console.Said(map[string]any{"queue": c.Queue, "paused": paused}, "%s %s", word, c.Queue)
		return console.After(said, do(o, ctx, c.Queue))
	})
}

// AI is about the AI.
type AI struct {
	Budget aiBudget `cmd:"" help:"Print the tokens of this day, or set their limit for this day."`
}

type aiBudget struct {
	service.Action

	Tokens *int64            `arg:"" help:"Limit of this day for all workers; 0 means no limit." optional:""`
	Reset  bool              `help:"Restore the limit of the settings."`
	Day    service.DayBudget `embed:""`
}

// Run is called by kong.
func (c *aiBudget) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (_ console.Printed, err error) {
		switch {
		case c.Reset && c.Tokens != nil:
			err = console.Usage("give a limit or --reset, not both")
		case c.Reset:
			err = o.ResetAIBudget(ctx)
		case c.Tokens != nil:
			err = o.SetAIBudget(ctx, *c.Tokens)
		}
		if err != nil {
			return nil, err
		}
		b, err := o.AIBudget(ctx, c.Day.AIDailyTokens)
		limit := "none"
		if b.Limit > 0 {
			limit = fmt.Sprintf("%d (%d %% used)", b.Limit, b.Used*100/b.Limit)
		}
		if b.Set {
			limit += ", set by an operator for this day"
		}
		return console.After(console.Record(b, "Used", b.Used, "Limit", limit, "Resets", b.Resets), err)
	})
}

// Breaker is about the breakers of the workers that call TRA.
type Breaker struct {
	Reset breakerReset `cmd:"" help:"Close the breakers of all workers that call TRA, within 4 s."`
}

type breakerReset struct{ service.Action }

// Run is called by kong.
func (c *breakerReset) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		record := map[string]any{"closedWithinSeconds": tra.WorkerInterval.Seconds()}
		said := console.Said(record, "the workers that call TRA close their breakers within %v", tra.WorkerInterval)
		return console.After(said, o.ResetBreaker(ctx))
	})
}

// Actions lists what operators did.
type Actions struct {
	service.Action

	Limit int `default:"50" help:"Maximum number of actions, the newest."`
}

// Run is called by kong.
func (c *Actions) Run(s *service.Session) error {
	return c.Do(s, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		return console.As(console.Listed("AT\tWHO\tACTION\tTARGET\tERROR", func(a operate.Action) []any {
			return []any{a.At, a.Who, a.Action, a.Target, a.Error}
		}))(o.Actions(ctx, c.Limit))
	})
}

// Drift is what the drift detector found.
type Drift struct {
	service.Redis
	console.Answer
}

// Run is called by kong. It prints JSON lines: the state first, then the
// answers that differ, the last first.
func (c *Drift) Run(s *service.Session) error {
	conn, err := s.Connect(c.Redis)
	if err != nil {
		return err
	}
	store := drift.NewStore(conn.Client())
	state, err := store.State(s.Ctx)
	if err != nil {
		return err
	}
	samples, err := store.Samples(s.Ctx)
	if err != nil {
		return err
	}
	if c.Text() || c.CSV() {
		return c.Print(s.Streams, map[string]any{"state": state, "samples": samples})
	}
	out := plainjson.NewEncoder(s.Out)
	if err := out.Encode(state); err != nil {
		return err
	}
	for _, sample := range samples {
		if err := out.Encode(sample); err != nil {
			return err
		}
	}
	return nil
}

// Sync requests a sync of a worker with the role authority, because
// TRA answers addresses in Tanzania only.
type Sync struct {
	service.Redis
	console.Answer

	Accept bool          `help:"Take lists that differ so much from the previous ones that they would be quarantined."`
	Wait   time.Duration `default:"6m"                                                                                 help:"How long to wait for the worker."`
}

// Run is called by kong. It prints the report of the sync as JSON.
func (c *Sync) Run(s *service.Session) error {
	o, err := s.Operator(c.Redis)
	if err != nil {
		return err
	}
	id, err := o.Sync(s.Ctx, tra.SyncOptions{All: true, Accept: c.Accept})
	if err != nil {
		return err
	}
	outcome, err := c.await(s.Ctx, o, id)
	if err != nil {
		return err
	}
	if err := c.Print(s.Streams, outcome.Report); err != nil {
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
func (c *Sync) await(ctx context.Context, o *operate.Operator, id string) (*tra.SyncOutcome, error) {
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
