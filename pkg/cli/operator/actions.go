// Package operator is the commands that only the operator of a service has, over Redis: what has no
// twin for a caller.
package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/fetch"
	"ushuru/pkg/operate"
	"ushuru/pkg/tra"
)

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
