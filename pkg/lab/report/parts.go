package report

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"ushuru/pkg/lab/bench"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/lab/scale"
	"ushuru/pkg/lab/soak"
	"ushuru/pkg/redisx"
)

// Sizes say how much each part measures.
type Sizes struct {
	Words string // about the sizes, for the heading; "" is none

	Batch, Interactive int // listings; single estimates before and during
	Trips              int // listings
	Cached             int // requests in each round
	Latency, Slow      int // estimates with an authority that answers at once, and with one that does not
	Authority          time.Duration
	Labels, Matches    int
	Read               int

	Soak                         int // cached estimates
	Victim, Hostile, HostileRows int // estimates of a victim, connections of its attacker, rows of the attacker's batch
	Waiters                      int
	Away                         time.Duration // of Redis
	ScaleRows                    []int
	ScaleMost                    int // rows with several numbers of workers
	ScaleWorker                  []int
}

// Full are sizes for the aims.
func Full() Sizes {
	return Sizes{
		Batch: 10_000, Interactive: 60, Trips: 2000, Cached: 4000, Latency: 60, Slow: 10, Authority: time.Second,
		Labels: 20_000, Matches: 2000, Read: 50, Soak: 100_000,
		Victim: 60, Hostile: 16, HostileRows: 1000,
		Waiters: 2000, Away: 5 * time.Second,
		ScaleRows: []int{1000, 10_000, 100_000}, ScaleMost: 10_000, ScaleWorker: []int{1, 2, 4, 8},
	}
}

// Quick are sizes for most of the aims, in about half the time.
func Quick() Sizes {
	s := Full()
	s.Words = "The quick form: a batch of 5,000 listings, and no more than " +
		"10,000 rows and 4 workers in the scaling run."
	s.Batch = 5000
	s.ScaleRows, s.ScaleWorker = []int{1000, 10_000}, []int{1, 2, 4}
	return s
}

// Short are sizes that show only that everything runs, in a minute.
func Short() Sizes {
	s := Full()
	s.Words = "The short form: the sizes are too small for the aims, and the figures show only that everything runs."
	s.Batch, s.Interactive, s.Trips, s.Cached, s.Latency, s.Slow = 300, 5, 100, 100, 5, 2
	s.Authority, s.Labels, s.Matches, s.Read = 200*time.Millisecond, 2000, 200, 3
	s.Victim, s.Hostile, s.HostileRows = 5, 4, 20
	s.Waiters, s.Away = 100, time.Second
	s.Soak, s.ScaleRows, s.ScaleWorker = 1000, []int{50, 200}, []int{1, 2}
	return s
}

// withRedis is a part that needs an empty Redis.
func withRedis(
	ctx context.Context, run func(conn *redisx.Conn, url string) ([]rig.Number, error),
) (numbers []rig.Number, err error) {
	err = rig.WithRedis(ctx, func(conn *redisx.Conn, url string) error {
		var err error
		numbers, err = run(conn, url)
		return err
	})
	return numbers, err
}

// Parts are all benchmarks. The longest are the last.
func Parts(s Sizes, log *slog.Logger) []Part { return append(work(s, log), load(s, log)...) }

// work are the benchmarks of single pieces of work.
func work(s Sizes, log *slog.Logger) []Part {
	return []Part{
		{"bench read", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return bench.Read(ctx, out, out, bench.ReadOptions{Samples: s.Read, Size: 600_000})
		}},
		{"bench match", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return bench.Match(ctx, out, s.Labels, s.Matches)
		}},
		{"bench latency", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				return bench.Latency(ctx, out, bench.LatencyOptions{
					Redis: conn, Log: log, Samples: s.Latency, Slow: s.Slow, Authority: s.Authority,
				})
			})
		}},
		{"bench cached", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				return bench.Cached(ctx, out, bench.CachedOptions{Redis: conn, Requests: s.Cached, Callers: 16})
			})
		}},
		{"bench trips", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				return bench.Trips(ctx, out, bench.BatchOptions{
					Redis: conn, Log: log, Listings: s.Trips, Window: 200, Interactive: s.Interactive,
				})
			})
		}},
		{"bench batch", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				return bench.Batch(ctx, out, bench.BatchOptions{
					Redis: conn, Log: log, Listings: s.Batch, Window: 200, Interactive: s.Interactive,
				})
			})
		}},
	}
}

// load are those of load, faults and size.
func load(s Sizes, log *slog.Logger) []Part {
	return []Part{
		{"bench hostile", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				return bench.Hostile(ctx, out, bench.HostileOptions{
					Redis: conn, Log: log, Estimates: s.Victim, Callers: s.Hostile, Listings: s.HostileRows,
				})
			})
		}},
		{"bench waiters", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				return bench.Waiters(ctx, out, bench.WaitersOptions{Redis: conn, Log: log, Waiters: s.Waiters})
			})
		}},
		{"bench recovery", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return bench.Recovery(ctx, out, s.Away)
		}},
		{"bench soak", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return withRedis(ctx, func(conn *redisx.Conn, _ string) ([]rig.Number, error) {
				numbers, _, err := soak.Run(ctx, out, soak.Options{
					Redis: conn, Estimates: s.Soak, Listings: 50, Callers: 16, Progress: io.Discard,
				})
				return numbers, err
			})
		}},
		{"bench scale", func(ctx context.Context, out io.Writer) ([]rig.Number, error) {
			return scale.Run(ctx, out, scale.Options{
				Workers: s.ScaleWorker, Rows: s.ScaleRows, Most: s.ScaleMost, Progress: io.Discard,
			})
		}},
	}
}

// Only returns the parts with these names, without "bench "; all without names.
func Only(parts []Part, names []string) ([]Part, error) {
	if len(names) == 0 {
		return parts, nil
	}
	known := map[string]Part{}
	for _, part := range parts {
		known[part.Name] = part
	}
	chosen := make([]Part, 0, len(names))
	for _, name := range names {
		part, ok := known["bench "+name]
		if !ok {
			return nil, fmt.Errorf("there is no part %q", name)
		}
		chosen = append(chosen, part)
	}
	return chosen, nil
}
