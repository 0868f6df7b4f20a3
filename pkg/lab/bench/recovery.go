package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/client"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
)

// Recovery measures, with API and workers in processes of their own, how long an estimate
// waits when the worker that fetches its page is killed, and when Redis comes back after an
// outage. The killed worker is replaced before it dies, so that only the takeover is measured.
func Recovery(ctx context.Context, out io.Writer, away time.Duration) ([]rig.Number, error) {
	killed, err := killedWorker(ctx)
	if err != nil {
		return nil, fmt.Errorf("lab: a killed worker: %w", err)
	}
	back, err := redisBack(ctx, away)
	if err != nil {
		return nil, fmt.Errorf("lab: Redis comes back: %w", err)
	}
	const afterKill, afterOutage = 8, 5
	seconds := func(d time.Duration) rig.Value { return rig.Value{N: d.Seconds(), Unit: "s"} }
	_, err = fmt.Fprintf(out, "worker killed while it fetched a page: its estimate was answered by another %s later\n"+
		"Redis killed, back %s later with its append-only file: an estimate is answered %s after it serves again\n",
		killed.Round(time.Millisecond), away, back.Round(time.Millisecond))
	return []rig.Number{
		{
			Name: "kill -9 of a worker in mid-step, until its estimate is answered", Measured: seconds(killed),
			Aim: rig.Aim{AtMost: afterKill},
		},
		{
			Name: fmt.Sprintf("Redis back after %s, until estimates are answered", away), Measured: seconds(back),
			Aim: rig.Aim{AtMost: afterOutage},
		},
		{
			Name:   "failover of a Redis Cluster, until writes succeed",
			Reason: "it needs a cluster of six servers; the test measures it and fails above 8 s",
		},
	}, err
}

// estimated requests an estimate in the background.
func estimated(ctx context.Context, api *client.Client, url string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := api.Estimate(ctx, client.EstimateRequest{URL: url})
		ended <- err
	}()
	return ended
}

// hangingSite holds the first request of a path until its caller leaves.
type hangingSite struct {
	http.Handler

	path    string
	asked   chan struct{}
	already atomic.Bool
}

func (s *hangingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery == s.path && s.already.CompareAndSwap(false, true) {
		close(s.asked)
		<-r.Context().Done()
		return
	}
	s.Handler.ServeHTTP(w, r)
}

func killedWorker(ctx context.Context) (took time.Duration, err error) {
	site := &hangingSite{Handler: rig.Instant(listingtest.New()), path: "hang=0", asked: make(chan struct{})}
	err = withProcesses(ctx, site, func(p processes) error {
		if _, err := p.api.Estimate(ctx, client.EstimateRequest{URL: rig.Listing(p.sites.Site, "warm", 0)}); err != nil {
			return err
		}
		answer := estimated(ctx, p.api, rig.Listing(p.sites.Site, "hang", 0))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-answer:
			return fmt.Errorf("the page did not hang: %w", err)
		case <-site.asked:
		}
		other, err := rig.StartWorker(ctx, p.redis.URL, p.sites.Authority, "any,authority")
		if err != nil {
			return err
		}
		defer other.Stop()
		killed := time.Now()
		p.worker.Kill()
		err = <-answer
		took = time.Since(killed)
		return err
	})
	return took, err
}

// redisBack kills Redis, starts it again, and asks for estimates of new listings until one
// is answered.
func redisBack(ctx context.Context, away time.Duration) (took time.Duration, err error) {
	err = withProcesses(ctx, nil, func(p processes) error {
		ask := func(n int) error {
			_, err := p.api.Estimate(ctx, client.EstimateRequest{URL: rig.Listing(p.sites.Site, "back", n)})
			return err
		}
		if err := ask(0); err != nil {
			return err
		}
		p.redis.Kill()
		time.Sleep(away)
		if err := p.redis.Start(ctx); err != nil {
			return err
		}
		const interval, longest = 20 * time.Millisecond, time.Minute
		back := time.Now()
		for n := 1; ; n++ {
			err := ask(n)
			took = time.Since(back)
			if err == nil || ctx.Err() != nil || took > longest {
				return err
			}
			time.Sleep(interval)
		}
	})
	return took, err
}

// processes are the service with its worker in a process of its own.
type processes struct {
	redis  *rig.RedisServer
	sites  *rig.Simulators
	api    *client.Client
	worker *rig.Process
}

// withProcesses calls a function with an API and a worker around a Redis and a site.
func withProcesses(ctx context.Context, site http.Handler, do func(processes) error) error {
	return rig.WithRedisServer(ctx, func(conn *redisx.Conn, server *rig.RedisServer) error {
		var cleanup app.Cleanup
		defer cleanup.Run()
		sites, err := rig.StartSimulators(ctx, site)
		if err != nil {
			return err
		}
		cleanup.Add(sites.Stop)
		process, api, err := rig.StartAPI(ctx, conn, server.URL)
		if err != nil {
			return err
		}
		cleanup.Add(process.Stop)
		worker, err := rig.StartWorker(ctx, server.URL, sites.Authority, "any,authority")
		if err != nil {
			return err
		}
		cleanup.Add(worker.Stop)
		return do(processes{server, sites, api, worker})
	})
}
