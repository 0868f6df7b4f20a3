package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
)

// HostileOptions of Hostile.
type HostileOptions struct {
	Redis     *redisx.Conn // an empty Redis
	Log       *slog.Logger
	Estimates int // of the victim, before and during the attack
	Callers   int // of the attacker
	Listings  int // of the attacker's batch
}

// Hostile measures single estimates of one key without and with another key that asks for
// pages which never end, from many connections and in a batch.
func Hostile(ctx context.Context, out io.Writer, o HostileOptions) ([]rig.Number, error) {
	o.Estimates = max(o.Estimates, 1)
	service, err := rig.Start(ctx, rig.Options{Redis: o.Redis, Log: o.Log, Pages: endless{rig.Instant(listingtest.New())}})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	if _, err := service.Estimates(ctx, "warm", len(rig.Cars())); err != nil {
		return nil, err
	}
	idle, err := service.Estimates(ctx, "before", o.Estimates)
	if err != nil {
		return nil, err
	}
	end, err := attack(ctx, service, o)
	if err != nil {
		return nil, err
	}
	during, err := service.Estimates(ctx, "during", o.Estimates)
	end()
	if err != nil {
		return nil, fmt.Errorf("lab: the victim: %w", err)
	}
	const half, most, slower = 0.5, 0.95, 2
	_, err = fmt.Fprintf(out, `victim, %d estimates:       p50 %s, p95 %s
the same during the attack: p50 %s, p95 %s, none failed
attack by another key:      %d connections and a batch of %d listings, all of pages that never end
More attacks, with what they cost: make attacks, docs/SECURITY.md.
`, o.Estimates, rig.Quantile(idle, half), rig.Quantile(idle, most), rig.Quantile(during, half), rig.Quantile(during, most),
		o.Callers, o.Listings)
	return []rig.Number{{
		Name:     "victim of a hostile key, p95; an estimate that fails ends the run",
		Measured: rig.Millis(rig.Quantile(during, most)),
		Baseline: rig.Millis(rig.Quantile(idle, most)).As("without the attack"),
		Aim:      rig.Aim{AtMost: slower, Ratio: true},
	}}, err
}

// endless is a site with pages that never end.
type endless struct{ http.Handler }

func (s endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.RawQuery, "endless") {
		s.Handler.ServeHTTP(w, r)
		return
	}
	const interval = 500 * time.Millisecond
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, "<p>")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(interval):
		}
	}
}

// attack begins an attack; end ends it.
func attack(ctx context.Context, service *rig.Service, o HostileOptions) (end func(), err error) {
	key, _, err := keys.NewStore(service.Redis).Create(ctx, "attacker")
	if err != nil {
		return nil, err
	}
	api, err := client.New(client.Options{URL: service.URL, Key: key})
	if err != nil {
		return nil, err
	}
	if _, err := rig.Submit(ctx, api, rig.Listings(service.Site, "endless-row", max(o.Listings, 1))); err != nil {
		return nil, err
	}
	attacking, cancel := context.WithCancel(ctx)
	var callers sync.WaitGroup
	for caller := range o.Callers {
		callers.Go(func() {
			for n := caller; attacking.Err() == nil; n += o.Callers {
				_, _ = api.Estimate(attacking, client.EstimateRequest{URL: rig.Listing(service.Site, "endless", n)})
			}
		})
	}
	const lead = 3 * time.Second // until the attack has taken what it can
	select {
	case <-ctx.Done():
	case <-time.After(lead):
	}
	return func() {
		cancel()
		callers.Wait()
	}, nil
}
