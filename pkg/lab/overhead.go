package lab

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
)

// OverheadOptions of Overhead.
type OverheadOptions struct {
	Counted, Uncounted *redisx.Conn // two empty servers
	Log                *slog.Logger
	Pairs              int // of batches, one on each side
	Listings           int // of a batch
	Window             int // listings processed concurrently
}

// Overhead measures what counting costs a batch: metrics, and the counts of the console. Two
// services in this process, each on a Redis of its own, take turns with batches; one of
// them counts nothing. It compares processor time, of this process and of that Redis, which
// other programs on the machine disturb less than the clock.
func Overhead(ctx context.Context, out io.Writer, o OverheadOptions) ([]rig.Number, error) {
	o.Pairs, o.Listings = max(o.Pairs, 2), max(o.Listings, 1) //nolint:mnd // a deviation needs two
	var sides [2]*rig.Service
	for i, conn := range []*redisx.Conn{o.Uncounted, o.Counted} {
		service, err := rig.Start(ctx, rig.Options{Redis: conn, Log: o.Log, Window: o.Window, Uncounted: i == 0})
		if err != nil {
			return nil, err
		}
		defer service.Stop()
		if _, err := service.Estimates(ctx, "warm", len(rig.Cars())); err != nil {
			return nil, err
		}
		if _, err := batchCost(ctx, service, "warm-up", o.Listings); err != nil {
			return nil, err
		}
		sides[i] = service
	}
	more := make([]float64, 0, o.Pairs) // per cent
	var each time.Duration              // of a listing, counted
	for pair := range o.Pairs {
		var cost [2]time.Duration
		for turn := range cost {
			side := (pair + turn) % len(cost) // which begins alternates: 0 1, 1 0, …
			var err error
			if cost[side], err = batchCost(ctx, sides[side], fmt.Sprintf("pair%d", pair), o.Listings); err != nil {
				return nil, err
			}
		}
		const percent = 100
		more = append(more, percent*(float64(cost[1])/float64(cost[0])-1))
		each += cost[1] / time.Duration(o.Pairs*o.Listings)
	}
	middle, half := interval(more)
	const most = 2
	number := rig.Number{
		Name: "what metrics and counts add to the processor time of a batch, mean", Measured: rig.Value{N: middle, Unit: "%"},
		Baseline: rig.Value{Of: fmt.Sprintf("the same without them; 95 %% interval %.2f to %.2f %%", middle-half, middle+half)},
		Aim:      rig.Aim{AtMost: most}, Command: "ushuru bench overhead",
	}
	_, err := fmt.Fprintf(out, `%d pairs of batches of %d listings, with and without metrics and counts, which begins alternates
processor time of a listing:  %s, with them
they add:                     %.2f %%, median %.2f %%; 95 %% confidence interval of the mean %.2f to %.2f %%
`, o.Pairs, o.Listings, each.Round(time.Microsecond), middle, rig.Median(more), middle-half, middle+half)
	return []rig.Number{number}, err
}

// batchCost is the processor time of this process and of the service's Redis for a batch.
func batchCost(ctx context.Context, service *rig.Service, kind string, listings int) (time.Duration, error) {
	redisBefore, err := rig.RedisTime(ctx, service.Redis)
	if err != nil {
		return 0, err
	}
	own := rig.OwnTime()
	if err := rig.RunBatch(ctx, service.Client, rig.Listings(service.Site, kind, listings)); err != nil {
		return 0, err
	}
	own = rig.OwnTime() - own
	redisAfter, err := rig.RedisTime(ctx, service.Redis)
	return own + redisAfter - redisBefore, err
}

// interval returns the mean of numbers, and half the width of its 95 % confidence interval.
func interval(numbers []float64) (mean, half float64) {
	for _, n := range numbers {
		mean += n / float64(len(numbers))
	}
	var squares float64
	for _, n := range numbers {
		squares += (n - mean) * (n - mean)
	}
	const factor = 2.05 // Student's, for about 30 numbers
	deviation := math.Sqrt(squares / float64(max(len(numbers)-1, 1)))
	return mean, factor * deviation / math.Sqrt(float64(len(numbers)))
}
