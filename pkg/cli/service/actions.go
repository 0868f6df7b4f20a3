package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/operate"
	"ushuru/pkg/tra"
)

// Cache is about what is cached.
type Cache struct {
	Drop cacheDrop `cmd:"" help:"Delete what is cached of a listing, or of a vehicle of TRA."`
}

type cacheDrop struct {
	action

	URL       string `arg:"" help:"URL of the listing; without it the vehicle is given by flags." optional:""`
	Make      string `help:"Make, as TRA spells it."`
	ModelBody string `help:"Label of the model, as TRA spells it."`
	Year      int    `help:"Year of manufacture; without it all years."`
	Country   string `help:"Country of origin; without it all countries."`
	Fuel      string `help:"Fuel type, as TRA spells it; without it all."`
	Engine    string `help:"Engine capacity, as TRA spells it: \"1001 - 1500 CC\"; without it all."`
}

// Run is called by kong.
func (c *cacheDrop) Run(s *Session) error {
	tuple := tra.Tuple{
		Make: c.Make, ModelBody: c.ModelBody, YOM: c.Year, Country: c.Country, Fuel: c.Fuel, Capacity: c.Engine,
	}
	if (c.URL == "") == (tuple == tra.Tuple{}) {
		return console.Usage("give the URL of a listing, or a vehicle with --make and --model-body")
	}
	show := as(func(dropped operate.Dropped) printed {
		return record(dropped, "Results", dropped.Results, "Calculations", dropped.Calculations, "Refusals", dropped.Refusals)
	})
	return c.run(s, func(ctx context.Context, o *operate.Operator) (printed, error) {
		if c.URL != "" {
			return show(o.DropURL(ctx, c.URL))
		}
		return show(o.DropTuple(ctx, tuple))
	})
}

// Sites is about the sites that pages are fetched from.
type Sites struct {
	List   plain       `cmd:"" help:"List the sites that are paused."`
	Pause  sitesPause  `cmd:"" help:"Request no pages of a site for a time."`
	Resume sitesResume `cmd:"" help:"End the pauses of a site, also those that it has asked for."`
}

type sitesPause struct {
	action

	Site string        `arg:"" help:"Host, or name of a known site."`
	For  time.Duration `default:"1h" help:"For how long, at most 720h."`
}

// Run is called by kong.
func (c *sitesPause) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, o *operate.Operator) (printed, error) {
		hosts, err := o.PauseSite(ctx, c.Site, c.For)
		until := time.Now().Add(c.For).Truncate(time.Second)
		record := map[string]any{"hosts": hosts, "until": until}
		return after(said(record, "paused until %s: %s", console.Time(until), strings.Join(hosts, ", ")), err)
	})
}

type sitesResume struct {
	action

	Site string `arg:"" help:"Host, or name of a known site."`
}

// Run is called by kong.
func (c *sitesResume) Run(s *Session) error {
	return c.run(s, deeds["sites resume"].operator.about(c.Site))
}

// Queues is about the queues of tasks, which ushuru status lists.
type Queues struct {
	Pause  ofQueue `cmd:"" help:"Have no worker take tasks of a queue until it is resumed."`
	Resume ofQueue `cmd:"" help:"Have workers take the tasks of a queue again."`
}

type ofQueue struct {
	action

	Queue string `arg:"" help:"Name of the queue."`
}

// Run is called by kong.
func (c *ofQueue) Run(s *Session, k *kong.Context) error {
	return c.run(s, deeds[nameOf(k.Selected())].operator.about(c.Queue))
}

// AI is about the AI.
type AI struct {
	Budget aiBudget `cmd:"" help:"Print the tokens of this day, or set their limit for this day."`
}

type aiBudget struct {
	action

	Tokens        *int64 `arg:"" help:"Limit of this day for all workers; 0 means no limit." optional:""`
	Reset         bool   `help:"Restore the limit of the settings."`
	AIDailyTokens int64  `default:"2000000" env:"AI_DAILY_TOKENS" range:"0..1000000000000" help:"Maximum tokens a day, Dar es Salaam time, for all workers; then matching continues without the AI; 0 means no limit." name:"ai-daily-tokens"`
}

// Run is called by kong.
func (c *aiBudget) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, o *operate.Operator) (_ printed, err error) {
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
		b, err := o.AIBudget(ctx, c.AIDailyTokens)
		limit := "none"
		if b.Limit > 0 {
			limit = fmt.Sprintf("%d (%d %% used)", b.Limit, b.Used*100/b.Limit)
		}
		if b.Set {
			limit += ", set by an operator for this day"
		}
		return after(record(b, "Used", b.Used, "Limit", limit, "Resets", b.Resets), err)
	})
}

// Breaker is about the breakers of the workers that call TRA.
type Breaker struct {
	Reset plain `cmd:"" help:"Close the breakers of all workers that call TRA, within 4 s."`
}

// Actions lists what operators did.
type Actions struct {
	action

	Limit int `default:"50" help:"Maximum number of actions, the newest."`
}

// Run is called by kong.
func (c *Actions) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, o *operate.Operator) (printed, error) {
		return as(listed("AT\tWHO\tACTION\tTARGET\tERROR", func(a operate.Action) []any {
			return []any{a.At, a.Who, a.Action, a.Target, a.Error}
		}))(o.Actions(ctx, c.Limit))
	})
}
