package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// LineOptions of Line.
type LineOptions struct {
	Log      *slog.Logger
	Progress io.Writer // gets a line after each stage
	Faults   LineFaults

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

// Line measures the service with its Redis far away from the workers that call the
// authority, or with the workers far away from a proxy near the authority, over a line
// that is slow and is reset regularly, beside the same service with everything in one
// place. The pages and the authority are SIMULATED.
func Line(ctx context.Context, out io.Writer, o LineOptions) error {
	near, err := measureLine(ctx, o, false)
	if err != nil {
		return fmt.Errorf("lab: all in one place: %w", err)
	}
	far, err := measureLine(ctx, o, true)
	if err != nil {
		return fmt.Errorf("lab: over the line: %w", err)
	}
	return printLine(out, o, near, far)
}

// lineFigures are the figures of one set-up.
type lineFigures struct {
	cold, known []time.Duration // of a person
	during      []time.Duration // of a person with new vehicles, while a batch of new vehicles runs
	rows        float64         // a second, of the batch
	rowBytes    int64           // over the line, of the whole batch
	share       float64         // of the rate, while the batch of new vehicles runs
	idle        float64         // bytes over the line a day
	lost        int             // rows and estimates that did not succeed
	doubled     int             // calculations that the authority made more than once
}

// lineBench is the service, and the worker that calls the authority.
type lineBench struct {
	*batchBench

	options LineOptions
	cars    []string // paths of cars, each another vehicle; those of used are known
	used    int
	line    *slowLine // nil when all is in one place
	farURL  string
	proxy   string // of the calls to the authority; "" is none
	calls   string // base URL of the authority
	worker  func() // stops the workers
	cleanup app.Cleanup
}

func measureLine(ctx context.Context, o LineOptions, far bool) (f lineFigures, err error) {
	bench, err := startLineBench(ctx, o, far)
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
		run  func(context.Context, *lineFigures) error
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
	for _, n := range bench.authority.Counts().Tuples {
		f.doubled += n - 1
	}
	return f, nil
}

// startLineBench starts everything and waits until the catalogue is synced.
func startLineBench(ctx context.Context, o LineOptions, far bool) (b *lineBench, err error) {
	b = &lineBench{options: o}
	defer func() {
		if err != nil {
			b.cleanup.Run()
		}
	}()
	url, stop, err := StartRedis(ctx)
	if err != nil {
		return nil, err
	}
	b.cleanup.Add(stop)
	conn, err := redisx.Open(ctx, redisx.Options{URL: url})
	if err != nil {
		return nil, err
	}
	b.cleanup.Add(func() { _ = conn.Close() })
	site, paths, err := lineSite()
	if err != nil {
		return nil, err
	}
	service, err := demo.Start(ctx, demo.Options{Redis: conn, Log: o.Log, Pages: site, Roles: []tasks.Role{tasks.RoleAny}})
	if err != nil {
		return nil, err
	}
	b.cleanup.Add(service.Stop)
	service.Authority.SetFaults(tratest.Faults{Latency: tratest.Duration(o.Authority)})
	api, err := client.New(client.Options{URL: service.URL, Key: service.Key})
	if err != nil {
		return nil, err
	}
	b.cars, b.calls, b.farURL = paths, service.AuthorityURL, url
	b.batchBench = &batchBench{redis: conn.Client(), authority: service.Authority, site: service.Site, client: api}
	if far {
		if err := b.startLine(ctx, strings.TrimPrefix(url, "redis-socket://")); err != nil {
			return nil, err
		}
	}
	if err := b.startWorkers(ctx, 0); err != nil {
		return nil, err
	}
	b.cleanup.Add(func() { b.worker() })
	return b, b.awaitCatalogue(ctx)
}

// startLine starts the line before Redis, or before a proxy.
func (b *lineBench) startLine(ctx context.Context, redisSocket string) (err error) {
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
func (b *lineBench) startWorkers(ctx context.Context, rate int) error {
	var stop app.Cleanup
	b.worker = stop.Run
	for range max(b.options.Workers, 1) {
		if err := b.startWorker(ctx, rate, &stop); err != nil {
			return err
		}
	}
	return nil
}

func (b *lineBench) startWorker(ctx context.Context, rate int, stop *app.Cleanup) error {
	conn, err := redisx.Open(ctx, redisx.Options{URL: b.farURL})
	if err != nil {
		return err
	}
	const timeout = 10 * time.Second
	worker, err := app.New(app.Options{ //nolint:contextcheck // the worker outlives the start
		Redis: conn, Log: b.options.Log, Simulated: true, Worker: &app.WorkerOptions{
			Roles: []tasks.Role{tasks.RoleAuthority}, AuthorityConcurrency: b.options.Concurrency, AuthorityRate: rate,
			ShutdownTimeout: timeout, Authority: tra.Options{BaseURL: b.calls, Timeout: timeout, Proxy: b.proxy},
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

func (b *lineBench) awaitCatalogue(ctx context.Context) error {
	const interval, longest = 100 * time.Millisecond, 2 * time.Minute
	store, deadline := tra.NewStore(b.redis, tra.StoreOptions{}), time.Now().Add(longest)
	for time.Now().Before(deadline) {
		synced, err := store.AsOf(ctx)
		if err != nil || synced != nil {
			return err
		}
		time.Sleep(interval)
	}
	return errors.New("the catalogue was not synced")
}

// settle is how long workers that were just started are left alone.
const settle = 2 * time.Second

// idleTraffic returns the bytes a day over the line while there is no work.
func (b *lineBench) idleTraffic() float64 {
	const day = 24 * time.Hour
	time.Sleep(settle)
	before, started := b.line.bytes.Load(), time.Now()
	time.Sleep(b.options.Idle)
	return float64(b.line.bytes.Load()-before) * float64(day) / float64(time.Since(started))
}

// vehicles returns the paths of n cars that were not used before.
func (b *lineBench) vehicles(n int) ([]string, error) {
	if b.used+n > len(b.cars) {
		return nil, fmt.Errorf("there are only %d vehicles", len(b.cars))
	}
	b.used += n
	return b.cars[b.used-n : b.used], nil
}

// estimate requests an estimate as a person does.
func (b *lineBench) estimate(ctx context.Context, path, kind string) (time.Duration, error) {
	started := time.Now()
	_, err := b.client.Estimate(ctx, client.EstimateRequest{URL: b.site + path + "?" + kind})
	return time.Since(started), err
}

// people measures a person who requests new vehicles, and then the same ones in
// other listings.
func (b *lineBench) people(ctx context.Context, f *lineFigures) error {
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
func (b *lineBench) batch(ctx context.Context, kind string, paths []string, rows int) (took time.Duration, lost int, err error) {
	urls := make([]string, rows)
	for i := range urls {
		urls[i] = fmt.Sprintf("%s%s?%s=%d", b.site, paths[i%len(paths)], kind, i)
	}
	started := time.Now()
	id, err := b.submit(ctx, urls)
	if err != nil {
		return 0, 0, err
	}
	outcomes, _, err := b.awaitEnd(ctx, id)
	took = time.Since(started)
	if err != nil {
		return took, 0, err
	}
	var succeeded int
	_, after, _ := strings.Cut(outcomes, "succeeded:")
	_, err = fmt.Sscan(strings.TrimRight(after, "]"), &succeeded)
	return took, rows - succeeded, err
}

// knownRows measures a batch of many rows of a few new vehicles.
func (b *lineBench) knownRows(ctx context.Context, f *lineFigures) error {
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
func (b *lineBench) newRows(ctx context.Context, f *lineFigures) error {
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

func (b *lineBench) allCalls() (total int) {
	for call, n := range b.authority.Counts().Calls {
		if call != "getMakes" && call != "getModelBody" { // those of the sync
			total += n
		}
	}
	return total
}

func printLine(out io.Writer, o LineOptions, near, far lineFigures) error {
	const megabyte, percent, half, most = 1e6, 100, 0.5, 0.95
	times := func(a, b []time.Duration, q float64) float64 {
		return float64(quantile(a, q)) / float64(max(quantile(b, q), 1))
	}
	trip := 2*o.Faults.Delay + o.Faults.Jitter
	aim := 5*trip + 3*o.Authority //nolint:mnd // five round trips and three calls
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
		quantile(near.cold, half), quantile(far.cold, half), aim, quantile(near.cold, most), quantile(far.cold, most),
		quantile(near.known, half), quantile(far.known, half), times(far.known, near.known, half),
		o.Rows, o.Vehicles, near.rows, far.rows, "-", float64(far.rowBytes)/1000, //nolint:mnd // in thousands
		o.New, percent*near.share, percent*far.share, o.Rate,
		quantile(near.during, half), quantile(far.during, half), times(far.during, far.cold, half),
		quantile(near.during, most), quantile(far.during, most), times(far.during, far.cold, most),
		"-", far.idle/megabyte, near.lost, near.doubled, far.lost, far.doubled)
	return err
}
