// Package soak asks the service for the same cached estimates for a long time, and looks
// whether anything grows.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
)

// Options of Run.
type Options struct {
	Redis     *redisx.Conn // an empty Redis
	Estimates int          // cached ones
	Listings  int          // that they are of
	Callers   int          // at the same time
	Progress  io.Writer    // gets a line after each tenth
}

// tenths is the number of readings.
const tenths = 10

// Run asks for the estimates and prints what the service holds after each tenth of them.
// API, workers and simulators are in this process. grown says what has grown after the
// first tenth; it is empty when nothing has.
func Run(ctx context.Context, out io.Writer, o Options) (numbers []rig.Number, grown []string, err error) {
	o.Estimates, o.Listings, o.Callers = max(o.Estimates, tenths), max(o.Listings, 1), max(o.Callers, 1)
	service, err := rig.Start(ctx, rig.Options{
		Redis: o.Redis,
		Log:   slog.New(slog.NewJSONHandler(io.Discard, nil)), //nolint:sloglint // a line is encoded as in production
	})
	if err != nil {
		return nil, nil, err
	}
	defer service.Stop()
	if _, err := service.Estimates(ctx, "soak", o.Listings); err != nil { // from now on they are cached
		return nil, nil, err
	}
	begin, err := read(ctx, service)
	if err != nil {
		return nil, nil, err
	}
	all := make([]reading, 0, tenths)
	started := time.Now()
	for i := range tenths {
		if err := ask(ctx, service, o); err != nil {
			return nil, nil, err
		}
		now, err := read(ctx, service)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, now)
		_, _ = fmt.Fprintf(o.Progress, "%3d %%: %s\n", (i+1)*100/tenths, now)
	}
	grown = growth(all)
	return numbersOf(o, all, grown), grown, printed(out, o, time.Since(started), begin, all, grown)
}

// ask asks for a tenth of the estimates.
func ask(ctx context.Context, service *rig.Service, o Options) error {
	var sent atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range o.Callers {
		group.Go(func() error {
			for {
				n := int(sent.Add(1))
				if n > o.Estimates/tenths {
					return nil
				}
				if _, err := service.Estimate(ctx, rig.Listing(service.Site, "soak", n%o.Listings)); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// reading is what the service holds at one time.
type reading struct {
	heap       int64 // bytes that are reachable
	goroutines int
	redis      int64 // bytes
	count      int   // keys
	keys       []rig.Keys
}

func (r reading) String() string {
	return fmt.Sprintf("heap %6.2f MB, %4d goroutines, Redis %6.2f MB in %5d keys, %d without a lifetime",
		float64(r.heap)/megabyte, r.goroutines, float64(r.redis)/megabyte, r.count, lasting(r.keys))
}

const megabyte = 1 << 20

func lasting(keys []rig.Keys) (n int) {
	for _, k := range keys {
		n += k.Lasting
	}
	return n
}

func read(ctx context.Context, service *rig.Service) (r reading, err error) {
	var memory runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they had for one collection
	runtime.ReadMemStats(&memory)
	r.heap, r.goroutines = int64(memory.HeapAlloc), runtime.NumGoroutine() //nolint:gosec // fits
	if r.redis, err = rig.UsedMemory(ctx, service.Redis); err != nil {
		return r, err
	}
	if r.keys, err = rig.ReadKeys(ctx, service.Redis); err != nil {
		return r, err
	}
	for _, k := range r.keys {
		r.count += k.Count
	}
	return r, nil
}

// bound is how much something may differ by chance: a share, and so much more.
type bound struct{ share, more float64 }

// growth returns what has grown between the first tenth and the median of the last three.
func growth(all []reading) (grown []string) {
	const last = 3
	// In MB: a leak of 20 bytes for each of the 90,000 estimates after the first tenth is 1.7.
	memoryBound, countBound := bound{0.03, 1}, bound{0.1, 20}
	tail := all[len(all)-last:]
	check := func(name string, unit string, of func(reading) float64, b bound) {
		first := of(all[0])
		ends := make([]float64, 0, last)
		for _, r := range tail {
			ends = append(ends, of(r))
		}
		if end := rig.Median(ends); end > first*(1+b.share)+b.more {
			grown = append(grown, fmt.Sprintf("%s from %.2f to %.2f%s", name, first, end, unit))
		}
	}
	check("the heap", " MB", func(r reading) float64 { return float64(r.heap) / megabyte }, memoryBound)
	check("goroutines", "", func(r reading) float64 { return float64(r.goroutines) }, countBound)
	check("Redis", " MB", func(r reading) float64 { return float64(r.redis) / megabyte }, memoryBound)
	check("keys", "", func(r reading) float64 { return float64(r.count) }, countBound)
	return append(grown, lastingGrowth(all[0].keys, all[len(all)-1].keys)...)
}

// lastingGrowth returns the patterns of keys without a lifetime that have more keys, or
// hold more: they would grow for ever.
func lastingGrowth(first, last []rig.Keys) (grown []string) {
	const kilobyte, share = 1 << 10, 1.1
	before := map[string]rig.Keys{}
	for _, k := range first {
		before[k.Pattern] = k
	}
	for _, k := range last {
		old := before[k.Pattern]
		if k.Lasting > old.Lasting {
			grown = append(grown, fmt.Sprintf("keys %s without a lifetime from %d to %d", k.Pattern, old.Lasting, k.Lasting))
		} else if k.Lasting > 0 && float64(k.Bytes) > float64(old.Bytes)*share+kilobyte {
			grown = append(grown, fmt.Sprintf("keys %s without a lifetime from %d to %d bytes", k.Pattern, old.Bytes, k.Bytes))
		}
	}
	return grown
}

func numbersOf(o Options, all []reading, grown []string) []rig.Number {
	const none, then = 0.5, "after the first tenth"
	first, last := all[0], all[len(all)-1]
	name := fmt.Sprintf("%d cached estimates: ", o.Estimates)
	size := func(bytes int64) rig.Value { return rig.Value{N: float64(bytes) / megabyte, Unit: "MB"} }
	return []rig.Number{
		{
			Name: name + "what has grown after the first tenth", Measured: rig.Value{N: float64(len(grown))},
			Aim: rig.Aim{AtMost: none},
		},
		{
			Name: name + "heap at the end", Measured: size(last.heap), Baseline: size(first.heap).As(then),
		},
		{
			Name: name + "Redis at the end", Measured: size(last.redis), Baseline: size(first.redis).As(then),
		},
	}
}

func printed(out io.Writer, o Options, took time.Duration, begin reading, all []reading, grown []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cached estimates of %d listings by %d callers in %s: %.0f /s; "+
		"API, workers and simulators in one process\n",
		o.Estimates, o.Listings, o.Callers, took.Round(time.Second), float64(o.Estimates)/took.Seconds())
	fmt.Fprintf(&b, "  0 %%: %s\n", begin)
	for i, r := range all {
		fmt.Fprintf(&b, "%3d %%: %s\n", (i+1)*100/tenths, r)
	}
	for _, state := range []struct {
		name string
		keys []rig.Keys
	}{{"at the begin", begin.keys}, {"at the end", all[len(all)-1].keys}} {
		fmt.Fprintf(&b, "keys without a lifetime %s:\n", state.name)
		for _, k := range state.keys {
			if k.Lasting > 0 {
				fmt.Fprintf(&b, "  %s\n", k)
			}
		}
	}
	if len(grown) == 0 {
		b.WriteString("verdict: no growth after the first tenth\n")
	} else {
		fmt.Fprintf(&b, "verdict: GROWN after the first tenth: %s\n", strings.Join(grown, "; "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// ErrGrown is what the command fails with.
var ErrGrown = errors.New("something has grown after the first tenth")
