// Package line measures the service with a long, slow line between the worker that
// calls the authority and the rest.
package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// Options of Measure.
type Options struct {
	Log      *slog.Logger
	Progress io.Writer // gets a line after each stage
	Faults   Faults

	Authority   time.Duration // how long a call to the authority takes
	Concurrency int           // of the worker that calls it
	Workers     int           // that call it; default 1
	Proxy       bool          // the line is between the workers and a proxy near the authority, not before Redis
	People      int           // estimates of new vehicles by one person, and as many of known ones
	Rows        int           // of a batch
	Vehicles    int           // new ones in the rows
	Rate        int           // AUTHORITY_RATE while a batch of new vehicles runs
	New         int           // vehicles of that batch
	Pause       time.Duration // of a person between two estimates while it runs
	Idle        time.Duration // for which the idle traffic is measured
}

// Measure measures the service with its Redis far away from the workers that call the
// authority, or with the workers far away from a proxy near the authority, over a line
// that is slow and is reset regularly, beside the same service with everything in one
// place. The pages and the authority are SIMULATED.
func Measure(ctx context.Context, out io.Writer, o Options) ([]rig.Number, error) {
	near, err := measure(ctx, o, false)
	if err != nil {
		return nil, fmt.Errorf("lab: all in one place: %w", err)
	}
	far, err := measure(ctx, o, true)
	if err != nil {
		return nil, fmt.Errorf("lab: over the line: %w", err)
	}
	return numbers(o, near, far), printed(out, o, near, far)
}

// figures are the figures of one set-up.
type figures struct {
	cold, known []time.Duration // of a person
	during      []time.Duration // of a person with new vehicles, while a batch of new vehicles runs
	rows        float64         // a second, of the batch
	rowBytes    int64           // over the line, of the whole batch
	share       float64         // of the rate, while the batch of new vehicles runs
	idle        float64         // bytes over the line a day
	lost        int             // rows and estimates that did not succeed
	doubled     int             // calculations that the authority made more than once
}

// bench is the service, and the worker that calls the authority.
type bench struct {
	*rig.Service

	options Options
	cars    []string // paths of cars, each another vehicle; those of used are known
	used    int
	line    *slowLine // nil when all is in one place
	farURL  string
	proxy   string // of the calls to the authority; "" is none
	worker  func() // stops the workers
	cleanup app.Cleanup
}

func measure(ctx context.Context, o Options, far bool) (f figures, err error) {
	bench, err := start(ctx, o, far)
	if err != nil {
		return f, err
	}
	defer bench.cleanup.Run()
	if far {
		f.idle = bench.idleTraffic()
		bench.line.resets(true)
	}
	stages := []struct {
		name string
		run  func(context.Context, *figures) error
	}{
		{"estimates", bench.people},
		{"a batch of few vehicles", bench.knownRows},
		{"a batch of new vehicles", bench.newRows},
	}
	for _, stage := range stages {
		started := time.Now()
		if err := stage.run(ctx, &f); err != nil {
			return f, fmt.Errorf("%s: %w", stage.name, err)
		}
		_, _ = fmt.Fprintf(o.Progress, "%s: %s\n", stage.name, time.Since(started).Round(time.Millisecond))
	}
	for _, n := range bench.Authority.Counts().Tuples {
		f.doubled += n - 1
	}
	return f, nil
}

// start starts everything and waits until the catalogue is synced.
func start(ctx context.Context, o Options, far bool) (b *bench, err error) {
	b = &bench{options: o}
	defer func() {
		if err != nil {
			b.cleanup.Run()
		}
	}()
	server, err := rig.NewRedisServer(ctx)
	if err != nil {
		return nil, err
	}
	b.cleanup.Add(server.Stop)
	conn, err := redisx.Open(ctx, redisx.Options{URL: server.URL})
	if err != nil {
		return nil, err
	}
	b.cleanup.Add(func() { _ = conn.Close() })
	site, paths, err := rig.Vehicles()
	if err != nil {
		return nil, err
	}
	b.Service, err = rig.Start(ctx, rig.Options{Redis: conn, Log: o.Log, Pages: site, Roles: []tasks.Role{tasks.RoleAny}})
	if err != nil {
		return nil, err
	}
	b.cleanup.Add(b.Stop)
	b.Authority.SetFaults(tratest.Faults{Latency: tratest.Duration(o.Authority)})
	b.cars, b.farURL = paths, server.URL
	if far {
		if err := b.startLine(ctx, strings.TrimPrefix(server.URL, "redis-socket://")); err != nil {
			return nil, err
		}
	}
	if err := b.startWorkers(ctx, 0); err != nil {
		return nil, err
	}
	b.cleanup.Add(func() { b.worker() })
	return b, b.AwaitCatalogue(ctx)
}

// startLine starts the line before Redis, or before a proxy.
func (b *bench) startLine(ctx context.Context, redisSocket string) (err error) {
	network, upstream := "unix", redisSocket
	if b.options.Proxy {
		proxy, err := newSOCKSProxy(ctx)
		if err != nil {
			return err
		}
		b.cleanup.Add(proxy.stop)
		network, upstream = "tcp", proxy.address()
	}
	if b.line, err = newSlowLine(ctx, network, upstream, b.options.Faults); err != nil {
		return err
	}
	b.cleanup.Add(b.line.stop)
	if b.options.Proxy {
		b.proxy = "socks5://" + b.line.address()
	} else {
		b.farURL = "redis://" + b.line.address()
	}
	return nil
}

// startWorkers starts the workers that call the authority at most at a rate.
func (b *bench) startWorkers(ctx context.Context, rate int) error {
	var stop app.Cleanup
	b.worker = stop.Run
	for range max(b.options.Workers, 1) {
		if err := b.startWorker(ctx, rate, &stop); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) startWorker(ctx context.Context, rate int, stop *app.Cleanup) error {
	conn, err := redisx.Open(ctx, redisx.Options{URL: b.farURL})
	if err != nil {
		return err
	}
	const timeout = 10 * time.Second
	worker, err := app.New(app.Options{ //nolint:contextcheck // the worker outlives the start
		Redis: conn, Log: b.options.Log, Simulated: true, Worker: &app.WorkerOptions{
			Roles: []tasks.Role{tasks.RoleAuthority}, AuthorityConcurrency: b.options.Concurrency, AuthorityRate: rate,
			ShutdownTimeout: timeout, Authority: tra.Options{BaseURL: b.AuthorityURL, Timeout: timeout, Proxy: b.proxy},
		},
	})
	if err == nil {
		err = worker.Start(ctx)
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	stop.Add(func() { _ = conn.Close() })
	stop.Add(worker.Stop)
	return nil
}

// settle is how long workers that were just started are left alone.
const settle = 2 * time.Second

// idleTraffic returns the bytes a day over the line while there is no work.
func (b *bench) idleTraffic() float64 {
	const day = 24 * time.Hour
	time.Sleep(settle)
	before, started := b.line.bytes.Load(), time.Now()
	time.Sleep(b.options.Idle)
	return float64(b.line.bytes.Load()-before) * float64(day) / float64(time.Since(started))
}

// vehicles returns the paths of n cars that were not used before.
func (b *bench) vehicles(n int) ([]string, error) {
	if b.used+n > len(b.cars) {
		return nil, fmt.Errorf("there are only %d vehicles", len(b.cars))
	}
	b.used += n
	return b.cars[b.used-n : b.used], nil
}

// estimate requests an estimate as a person does.
func (b *bench) estimate(ctx context.Context, path, kind string) (time.Duration, error) {
	return b.Estimate(ctx, b.Site+path+"?"+kind)
}

// people measures a person who requests new vehicles, and then the same ones in
// other listings.
func (b *bench) people(ctx context.Context, f *figures) error {
	paths, err := b.vehicles(b.options.People)
	if err != nil {
		return err
	}
	for _, path := range paths {
		took, err := b.estimate(ctx, path, "first")
		if err != nil {
			return err
		}
		f.cold = append(f.cold, took)
	}
	for _, path := range paths {
		took, err := b.estimate(ctx, path, "again")
		if err != nil {
			return err
		}
		f.known = append(f.known, took)
	}
	return nil
}

// batch submits a batch and waits for its end.
func (b *bench) batch(ctx context.Context, kind string, paths []string, rows int) (took time.Duration, lost int, err error) {
	urls := make([]string, rows)
	for i := range urls {
		urls[i] = fmt.Sprintf("%s%s?%s=%d", b.Site, paths[i%len(paths)], kind, i)
	}
	started := time.Now()
	id, err := rig.Submit(ctx, b.Client, urls)
	if err != nil {
		return 0, 0, err
	}
	outcomes, err := rig.AwaitEnd(ctx, b.Client, id, nil)
	took = time.Since(started)
	if err != nil {
		return took, 0, err
	}
	return took, rows - outcomes["succeeded"], nil
}

// knownRows measures a batch of many rows of a few new vehicles.
func (b *bench) knownRows(ctx context.Context, f *figures) error {
	paths, err := b.vehicles(b.options.Vehicles)
	if err != nil {
		return err
	}
	var before int64
	if b.line != nil {
		before = b.line.bytes.Load()
	}
	took, lost, err := b.batch(ctx, "row", paths, b.options.Rows)
	f.rows, f.lost = float64(b.options.Rows)/took.Seconds(), f.lost+lost
	if b.line != nil {
		f.rowBytes = b.line.bytes.Load() - before
	}
	return err
}

// newRows measures a batch in which every row is a new vehicle, with a limit of the
// calls to the authority, and a person meanwhile.
func (b *bench) newRows(ctx context.Context, f *figures) error {
	b.worker()
	if err := b.startWorkers(ctx, b.options.Rate); err != nil {
		return err
	}
	time.Sleep(settle)
	paths, err := b.vehicles(b.options.New)
	if err != nil {
		return err
	}
	type outcome struct {
		took time.Duration
		lost int
		err  error
	}
	ended := make(chan outcome, 1)
	before := b.allCalls()
	go func() {
		took, lost, err := b.batch(ctx, "new", paths, len(paths))
		ended <- outcome{took, lost, err}
	}()
	for {
		select {
		case o := <-ended:
			f.share = float64(b.allCalls()-before) / o.took.Seconds() / float64(b.options.Rate)
			f.lost += o.lost
			return o.err
		case <-time.After(b.options.Pause):
		}
		person, err := b.vehicles(1)
		if err != nil {
			return err
		}
		took, err := b.estimate(ctx, person[0], "busy")
		if err != nil {
			return err
		}
		f.during = append(f.during, took)
	}
}

func (b *bench) allCalls() (total int) {
	for call, n := range b.Authority.Counts().Calls {
		if call != "getMakes" && call != "getModelBody" { // those of the sync
			total += n
		}
	}
	return total
}

// aim is how long an estimate of a new vehicle may take over the line.
func (o Options) aim() time.Duration {
	const trips, calls = 5, 3
	return trips*(2*o.Faults.Delay+o.Faults.Jitter) + calls*o.Authority
}

func numbers(o Options, near, far figures) []rig.Number {
	const half, times, rows, command = 0.5, 1.3, 35, "ushuru bench line"
	coldNear, coldFar := rig.Millis(rig.Quantile(near.cold, half)), rig.Millis(rig.Quantile(far.cold, half))
	knownNear, knownFar := rig.Millis(rig.Quantile(near.known, half)), rig.Millis(rig.Quantile(far.known, half))
	perSecond := func(n float64) rig.Value { return rig.Value{N: n, Unit: "rows/s"} }
	where := fmt.Sprintf("far line (%s each way, %d kbit/s)", o.Faults.Delay, o.Faults.Rate/1000) //nolint:mnd // in thousands
	return []rig.Number{
		{
			Name: where + ": estimate of a new vehicle, p50", Measured: coldFar, Baseline: coldNear.As("all in one place"),
			Aim: rig.Aim{AtMost: rig.Millis(o.aim()).N}, Command: command,
		},
		{
			Name: where + ": estimate of a known vehicle, p50", Measured: knownFar, Baseline: knownNear.As("all in one place"),
			Aim: rig.Aim{AtMost: times, Ratio: true}, Command: command,
		},
		{
			Name: where + ": batch", Measured: perSecond(far.rows), Baseline: perSecond(near.rows).As("all in one place"),
			Aim: rig.Aim{AtLeast: rows}, Command: command,
		},
		{
			Name: where + ": calculations lost or made twice", Measured: rig.Value{N: float64(far.lost + far.doubled)},
			Aim: rig.Aim{AtMost: 0.5}, Command: command, //nolint:mnd // none
		},
	}
}

func printed(out io.Writer, o Options, near, far figures) error {
	const megabyte, percent, half, most = 1e6, 100, 0.5, 0.95
	times := func(a, b []time.Duration, q float64) float64 {
		return float64(rig.Quantile(a, q)) / float64(max(rig.Quantile(b, q), 1))
	}
	_, err := fmt.Fprintf(out, `line: %s each way, up to %s more, %d kbit/s, reset every %s; the authority answers in %s
                                         near            far          aim
new vehicle, p50:               %12s   %12s   %10s (5 trips + 3 calls)
new vehicle, p95:               %12s   %12s
known vehicle, p50:             %12s   %12s   1.3 times near: %.2f
batch of %d rows, %d vehicles:  %7.1f /s     %7.1f /s     35 /s
bytes over the line for it:     %12s   %9.0f kB
batch of %d new vehicles:       %10.0f %%   %10.0f %%    80 %% of %d calls/s
a person meanwhile, p50:        %12s   %12s   2 times idle: %.2f
a person meanwhile, p95:        %12s   %12s   2 times idle: %.2f
idle traffic a day:             %12s   %9.1f MB   40 MB
lost, doubled:                  %9d, %d   %9d, %d   0, 0
`, o.Faults.Delay, o.Faults.Jitter, o.Faults.Rate/1000, o.Faults.Reset, o.Authority, //nolint:mnd // in thousands
		rig.Quantile(near.cold, half), rig.Quantile(far.cold, half), o.aim(),
		rig.Quantile(near.cold, most), rig.Quantile(far.cold, most),
		rig.Quantile(near.known, half), rig.Quantile(far.known, half), times(far.known, near.known, half),
		o.Rows, o.Vehicles, near.rows, far.rows, "-", float64(far.rowBytes)/1000, //nolint:mnd // in thousands
		o.New, percent*near.share, percent*far.share, o.Rate,
		rig.Quantile(near.during, half), rig.Quantile(far.during, half), times(far.during, far.cold, half),
		rig.Quantile(near.during, most), rig.Quantile(far.during, most), times(far.during, far.cold, most),
		"-", far.idle/megabyte, near.lost, near.doubled, far.lost, far.doubled)
	return err
}
