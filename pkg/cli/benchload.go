package cli

import (
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/lab"
	"ushuru/pkg/lab/scale"
	"ushuru/pkg/lab/soak"
)

type benchScale struct {
	Workers []int `default:"1,2,4,8" help:"Numbers of worker processes."`
	Rows    []int `default:"1000,10000,100000" help:"Numbers of listings; above 10,000 they are several batches."`
	Most    int   `default:"10000" help:"More rows than this are measured with the first number of workers only; 0 is no bound."`
	Window  int   `default:"200" help:"Listings processed concurrently."`
}

// Run is called by kong.
func (c *benchScale) Run(r *run) error {
	_, err := scale.Run(r.ctx, r.Out, scale.Options{
		Workers: c.Workers, Rows: c.Rows, Most: c.Most, Window: c.Window, Progress: r.Err,
	})
	return err
}

type benchSoak struct {
	redisConfig
	Estimates int `default:"100000" help:"Cached estimates."`
	Listings  int `default:"50" help:"Listings that they are of."`
	Callers   int `default:"16" help:"Callers at the same time."`
}

// Run is called by kong.
func (c *benchSoak) Run(r *run) error {
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, grown, err := soak.Run(r.ctx, r.Out, soak.Options{
		Redis: conn, Estimates: c.Estimates, Listings: c.Listings, Callers: c.Callers, Progress: r.Err,
	})
	if err == nil && len(grown) > 0 {
		err = fmt.Errorf("%w: %s", soak.ErrGrown, strings.Join(grown, "; "))
	}
	return err
}

type benchWaiters struct {
	redisConfig
	Waiters int `default:"2000" help:"Callers that wait."`
}

// Run is called by kong.
func (c *benchWaiters) Run(r *run) error {
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, err = lab.Waiters(r.ctx, r.Out, lab.WaitersOptions{Redis: conn, Log: r.log, Waiters: c.Waiters})
	return err
}

type benchOverhead struct {
	Pairs    int `default:"30" help:"Pairs of batches, one with and one without."`
	Listings int `default:"300" help:"Listings of a batch."`
	Window   int `default:"200" help:"Listings processed concurrently."`
}

// Run is called by kong.
func (c *benchOverhead) Run(r *run) error {
	counted, err := r.benchRedis(redisConfig{})
	if err != nil {
		return err
	}
	uncounted, err := r.benchRedis(redisConfig{})
	if err != nil {
		return err
	}
	_, err = lab.Overhead(r.ctx, r.Out, lab.OverheadOptions{
		Counted: counted, Uncounted: uncounted, Log: r.log, Pairs: c.Pairs, Listings: c.Listings, Window: c.Window,
	})
	return err
}

type benchRecovery struct {
	Away time.Duration `default:"5s" help:"For how long Redis is away."`
}

// Run is called by kong.
func (c *benchRecovery) Run(r *run) error {
	_, err := lab.Recovery(r.ctx, r.Out, c.Away)
	return err
}

type benchHostile struct {
	redisConfig
	Estimates int `default:"60" help:"Estimates of the victim before the attack, and as many during it."`
	Callers   int `default:"16" help:"Connections of the attacker."`
	Listings  int `default:"1000" help:"Listings of the attacker's batch."`
}

// Run is called by kong.
func (c *benchHostile) Run(r *run) error {
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, err = lab.Hostile(r.ctx, r.Out, lab.HostileOptions{
		Redis: conn, Log: r.log, Estimates: c.Estimates, Callers: c.Callers, Listings: c.Listings,
	})
	return err
}

type benchVisit struct{ redisConfig }

// Run is called by kong.
func (c *benchVisit) Run(r *run) error {
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, err = lab.Visit(r.ctx, r.Out, lab.VisitOptions{Redis: conn, Log: r.log})
	return err
}
