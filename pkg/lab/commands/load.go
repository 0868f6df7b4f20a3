package commands

import (
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/cli/service"
	"ushuru/pkg/lab/bench"
	"ushuru/pkg/lab/scale"
	"ushuru/pkg/lab/soak"
)

type benchScale struct {
	Workers []int `default:"1,2,4,8" help:"Numbers of worker processes."`
	Rows    []int `default:"1000,10000,100000" help:"Numbers of listings; above 10,000 they are several batches."`
	Most    int   `default:"10000" help:"More rows than this are measured with the first number of workers only; 0 is no bound."`
}

// Run is called by kong.
func (c *benchScale) Run(s *service.Session) error {
	_, err := scale.Run(s.Ctx, s.Out, scale.Options{
		Workers: c.Workers, Rows: c.Rows, Most: c.Most, Progress: s.Err,
	})
	return err
}

type benchSoak struct {
	service.Redis

	Estimates int `default:"100000" help:"Cached estimates."`
	Listings  int `default:"50" help:"Listings that they are of."`
	Callers   int `default:"16" help:"Callers at the same time."`
}

// Run is called by kong.
func (c *benchSoak) Run(s *service.Session) error {
	conn, stop, err := connect(s, c.Redis)
	if err != nil {
		return err
	}
	defer stop()
	_, grown, err := soak.Run(s.Ctx, s.Out, soak.Options{
		Redis: conn, Estimates: c.Estimates, Listings: c.Listings, Callers: c.Callers, Progress: s.Err,
	})
	if err == nil && len(grown) > 0 {
		err = fmt.Errorf("%w: %s", soak.ErrGrown, strings.Join(grown, "; "))
	}
	return err
}

type benchWaiters struct {
	service.Redis

	Waiters int `default:"2000" help:"Callers that wait."`
}

// Run is called by kong.
func (c *benchWaiters) Run(s *service.Session) error {
	conn, stop, err := connect(s, c.Redis)
	if err != nil {
		return err
	}
	defer stop()
	_, err = bench.Waiters(s.Ctx, s.Out, bench.WaitersOptions{Redis: conn, Log: quiet(s), Waiters: c.Waiters})
	return err
}

type benchRecovery struct {
	Away time.Duration `default:"5s" help:"For how long Redis is away."`
}

// Run is called by kong.
func (c *benchRecovery) Run(s *service.Session) error {
	_, err := bench.Recovery(s.Ctx, s.Out, c.Away)
	return err
}

type benchHostile struct {
	service.Redis

	Estimates int `default:"60" help:"Estimates of the victim before the attack, and as many during it."`
	Callers   int `default:"16" help:"Connections of the attacker."`
	Listings  int `default:"1000" help:"Listings of the attacker's batch."`
}

// Run is called by kong.
func (c *benchHostile) Run(s *service.Session) error {
	conn, stop, err := connect(s, c.Redis)
	if err != nil {
		return err
	}
	defer stop()
	_, err = bench.Hostile(s.Ctx, s.Out, bench.HostileOptions{
		Redis: conn, Log: quiet(s), Estimates: c.Estimates, Callers: c.Callers, Listings: c.Listings,
	})
	return err
}
