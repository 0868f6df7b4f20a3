package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/jobs"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// stepsOfEstimate is the number of tasks of one estimate.
const stepsOfEstimate = 3

// BatchOptions of Batch.
type BatchOptions struct {
	Redis       *redisx.Conn // an empty Redis
	Log         *slog.Logger
	Listings    int    // in the batch
	Window      int    // listings processed concurrently
	Interactive int    // single estimates before, and as many while the batch runs
	Profile     string // file for a CPU profile; "" writes none
}

// Batch measures a whole batch over SIMULATED pages and a SIMULATED authority
// that answer at once, compared with bare asynq and with the same steps chained by
// plain asynq, and the latency of single estimates before and during it.
func Batch(ctx context.Context, out io.Writer, o BatchOptions) error {
	client := o.Redis.Client()
	o.Listings = max(o.Listings, 1)
	if n, err := client.DBSize(ctx).Result(); err != nil || n > 0 {
		return errors.Join(errors.New("the benchmark needs an empty Redis"), err)
	}
	bare, err := Throughput(ctx, client, o.Listings)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "bare asynq no-op tasks:     %8.0f /s, with as many steps as an estimate has: %.0f /s\n",
		bare, bare/stepsOfEstimate)
	bench, stop, err := startBatchBench(ctx, o)
	if err != nil {
		return err
	}
	defer stop()
	measured, err := bench.measure(ctx, o)
	if err != nil {
		return err
	}
	chained, err := bench.chained(ctx, o.Listings)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "steps chained by asynq:     %8.0f /s, without records and fast recovery; ours is %.2f of it\n",
		chained, float64(o.Listings)/measured.took.Seconds()/chained)
	return measured.print(out, o.Listings, bare/stepsOfEstimate)
}

// batchBench is the service and what measures it.
type batchBench struct {
	redis     redis.UniversalClient
	authority *tratest.Simulator
	site      string
	client    *client.Client
	runStep   func(ctx context.Context, taskType string, job *jobs.Job) (json.RawMessage, error)
}

// startBatchBench starts the service on the Redis of the options, until stop is
// called. Its site answers at once.
func startBatchBench(ctx context.Context, o BatchOptions) (b *batchBench, stop func(), err error) {
	service, err := demo.Start(ctx, demo.Options{
		Redis: o.Redis, Log: o.Log, Pages: &instantSite{site: listingtest.New()},
		Roles: []tasks.Role{tasks.RoleAny, tasks.RoleAuthority}, BatchWindow: o.Window,
	})
	if err != nil {
		return nil, nil, err
	}
	api, err := client.New(client.Options{URL: service.URL, Key: service.Key})
	if err != nil {
		service.Stop()
		return nil, nil, err
	}
	return &batchBench{
		redis: o.Redis.Client(), authority: service.Authority, site: service.Site, client: api,
		runStep: service.RunStep,
	}, service.Stop, nil
}

// batchFigures are the figures of one batch.
type batchFigures struct {
	took        time.Duration
	outcomes    string        // how many rows ended in which state
	processor   time.Duration // of this process
	inRedis     time.Duration // processor time of Redis
	redisMemory int64         // bytes
	peakMemory  int64         // of this process, bytes
	idle, busy  []time.Duration
	calls       int // of getVehicleDetails
	vehicles    int // that they were about
}

func (b *batchBench) measure(ctx context.Context, o BatchOptions) (f batchFigures, err error) {
	if _, err := b.estimates(ctx, "warm", len(benchCars())); err != nil { // the first of each car calls the authority
		return f, err
	}
	if f.idle, err = b.estimates(ctx, "idle", o.Interactive); err != nil {
		return f, err
	}
	memoryBefore, err := usedMemory(ctx, b.redis)
	if err != nil {
		return f, err
	}
	stopProfile, err := startProfile(o.Profile)
	if err != nil {
		return f, err
	}
	defer stopProfile()
	ownBefore := ownTime()
	redisBefore, err := redisTime(ctx, b.redis)
	if err != nil {
		return f, err
	}
	if err := b.run(ctx, o, &f); err != nil {
		return f, err
	}
	memoryAfter, err := usedMemory(ctx, b.redis)
	if err != nil {
		return f, err
	}
	redisAfter, err := redisTime(ctx, b.redis)
	f.redisMemory, f.inRedis, f.processor = memoryAfter-memoryBefore, redisAfter-redisBefore, ownTime()-ownBefore
	counts := b.authority.Counts()
	f.calls, f.vehicles = counts.Calls["getVehicleDetails"], len(counts.Tuples)
	return f, err
}

// run submits the batch and waits for its end, with single estimates meanwhile.
func (b *batchBench) run(ctx context.Context, o BatchOptions, f *batchFigures) error {
	start := time.Now()
	id, err := b.submit(ctx, b.listings(o.Listings))
	if err != nil {
		return err
	}
	type outcome struct {
		took []time.Duration
		err  error
	}
	busy := make(chan outcome, 1)
	go func() {
		took, err := b.estimates(ctx, "busy", o.Interactive)
		busy <- outcome{took, err}
	}()
	f.outcomes, f.peakMemory, err = b.awaitEnd(ctx, id)
	f.took = time.Since(start)
	during := <-busy
	f.busy = during.took
	return errors.Join(err, during.err)
}

func (f batchFigures) print(out io.Writer, listings int, ideal float64) error {
	each := func(total time.Duration) time.Duration {
		return (total / time.Duration(listings)).Round(10 * time.Microsecond)
	}
	rate := float64(listings) / f.took.Seconds()
	idle, busy := quantile(f.idle, 0.95), quantile(f.busy, 0.95)
	_, err := fmt.Fprintf(out, `listings:                   %8d in %s: %.0f /s, %.0f %% of bare asynq
outcomes:                   %s
processor time per listing: %8s in this process, %s in Redis itself
Redis memory per listing:   %8d bytes
peak memory of the process: %8.0f MB (API, worker, site and authority)
single estimates, p95:      %8s idle, %s while the batch ran: %.2f times
getVehicleDetails:          %8d for %d tuples
`, listings, f.took.Round(time.Millisecond), rate, 100*rate/ideal, f.outcomes,
		each(f.processor), each(f.inRedis), f.redisMemory/int64(listings), float64(f.peakMemory)/(1<<20),
		idle, busy, float64(busy)/float64(max(idle, 1)), f.calls, f.vehicles)
	return err
}

// benchCars returns the cars of the site that need no AI.
func benchCars() (cars []listingtest.Car) {
	for _, car := range listingtest.Cars() {
		if car.Code != "" {
			cars = append(cars, car)
		}
	}
	return cars
}

// listing returns the URL of the nth listing of a kind. Each URL is another
// listing to the service; the site repeats its few cars.
func (b *batchBench) listing(kind string, n int) string {
	cars := benchCars()
	return fmt.Sprintf("%s%s?%s=%d", b.site, cars[n%len(cars)].Path(), kind, n)
}

// listings returns n listings for a batch.
func (b *batchBench) listings(n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = b.listing("lot", i)
	}
	return urls
}

func (b *batchBench) submit(ctx context.Context, urls []string) (id string, err error) {
	request := client.BatchRequest{Items: make([]client.BatchRow, len(urls))}
	for i, url := range urls {
		request.Items[i].URL = url
	}
	created, err := b.client.CreateBatch(ctx, request)
	if err != nil {
		return "", err
	}
	return created.ID, nil
}

// awaitEnd polls a batch until its end and returns how its rows ended, and
// the peak memory of this process.
func (b *batchBench) awaitEnd(ctx context.Context, id string) (outcomes string, peak int64, err error) {
	for {
		status, err := b.client.Batch(ctx, id)
		if err != nil {
			return "", 0, err
		}
		peak = max(peak, residentMemory())
		if status.State != "running" {
			return fmt.Sprint(status.Counts), peak, nil
		}
		select {
		case <-ctx.Done():
			return "", 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// estimates requests n single estimates of new listings, one after the other,
// and returns how long each took.
func (b *batchBench) estimates(ctx context.Context, kind string, n int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, max(n, 0))
	for i := range n {
		start := time.Now()
		if _, err := b.client.Estimate(ctx, client.EstimateRequest{URL: b.listing(kind, i)}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// startProfile writes a CPU profile to a file until stop is called.
func startProfile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}
