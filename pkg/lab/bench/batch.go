package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
)

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
// plain asynq, and the latency of single estimates before and during it. Half of what
// it is compared with runs before the batch and half of it after, so that the machine
// was the same on average.
func Batch(ctx context.Context, out io.Writer, o BatchOptions) ([]rig.Number, error) {
	o.Listings = max(o.Listings, 2) //nolint:mnd // halves
	service, err := rig.Start(ctx, rig.Options{Redis: o.Redis, Log: o.Log, Window: o.Window})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	f := batchFigures{listings: o.Listings}
	if _, err := service.Estimates(ctx, "warm", len(rig.Cars())); err != nil { // the first of each car calls the authority
		return nil, err
	}
	if err := f.compare(ctx, service); err != nil {
		return nil, err
	}
	if err := f.measure(ctx, service, o); err != nil {
		return nil, err
	}
	if err := f.compare(ctx, service); err != nil {
		return nil, err
	}
	return f.numbers(), f.print(out)
}

// batchFigures are the figures of one batch, and of what it is compared with.
type batchFigures struct {
	listings    int
	bare        []float64     // steps of bare asynq by those of an estimate, a second
	chained     []float64     // listings a second
	chainedCost time.Duration // processor time of this process for all of them
	took        time.Duration
	outcomes    map[string]int // how many rows ended in which state
	processor   time.Duration  // of this process
	inRedis     time.Duration  // processor time of Redis
	redisMemory int64          // bytes
	peakMemory  int64          // of this process, bytes
	idle, busy  []time.Duration
	calls       int // of getVehicleDetails
	vehicles    int // that they were about
}

// compare measures half of what the batch is compared with.
func (f *batchFigures) compare(ctx context.Context, service *rig.Service) error {
	const halves = 2
	bare, err := Throughput(ctx, service.Redis, f.listings/halves)
	if err != nil {
		return err
	}
	before := rig.OwnTime()
	chained, err := chained(ctx, service, f.listings/halves)
	f.chainedCost += rig.OwnTime() - before
	f.bare, f.chained = append(f.bare, bare/rig.StepsOfEstimate), append(f.chained, chained)
	return err
}

func (f *batchFigures) measure(ctx context.Context, service *rig.Service, o BatchOptions) (err error) {
	if f.idle, err = service.Estimates(ctx, "idle", o.Interactive); err != nil {
		return err
	}
	memoryBefore, err := rig.UsedMemory(ctx, service.Redis)
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(o.Profile)
	if err != nil {
		return err
	}
	defer stopProfile()
	ownBefore := rig.OwnTime()
	redisBefore, err := rig.RedisTime(ctx, service.Redis)
	if err != nil {
		return err
	}
	if err := f.run(ctx, service, o.Interactive); err != nil {
		return err
	}
	memoryAfter, err := rig.UsedMemory(ctx, service.Redis)
	if err != nil {
		return err
	}
	redisAfter, err := rig.RedisTime(ctx, service.Redis)
	f.redisMemory, f.inRedis, f.processor = memoryAfter-memoryBefore, redisAfter-redisBefore, rig.OwnTime()-ownBefore
	counts := service.Authority.Counts()
	f.calls, f.vehicles = counts.Calls["getVehicleDetails"], len(counts.Tuples)
	return err
}

// run submits the batch and waits for its end, with single estimates meanwhile.
func (f *batchFigures) run(ctx context.Context, service *rig.Service, interactive int) error {
	start := time.Now()
	id, err := rig.Submit(ctx, service.Client, rig.Listings(service.Site, "lot", f.listings))
	if err != nil {
		return err
	}
	type outcome struct {
		took []time.Duration
		err  error
	}
	busy := make(chan outcome, 1)
	go func() {
		took, err := service.Estimates(ctx, "busy", interactive)
		busy <- outcome{took, err}
	}()
	f.outcomes, err = rig.AwaitEnd(ctx, service.Client, id, func() { f.peakMemory = max(f.peakMemory, rig.ResidentMemory()) })
	f.took = time.Since(start)
	during := <-busy
	f.busy = during.took
	return errors.Join(err, during.err)
}

func mean(halves []float64) (sum float64) {
	for _, n := range halves {
		sum += n / float64(len(halves))
	}
	return sum
}

func (f *batchFigures) rate() float64 { return float64(f.listings) / f.took.Seconds() }

func (f *batchFigures) numbers() []rig.Number {
	const ofBare, ofChained, slower, most = 0.3, 0.75, 1.5, 0.95
	name := fmt.Sprintf("batch of %d listings", f.listings)
	perSecond := func(n float64) rig.Value { return rig.Value{N: n, Unit: "listings/s"} }
	each := func(total time.Duration) rig.Value { return rig.Millis(total / time.Duration(f.listings)) }
	single := rig.Number{
		Name: "single estimate while the batch runs, p95", Measured: rig.Millis(rig.Quantile(f.busy, most)),
		Baseline: rig.Millis(rig.Quantile(f.idle, most)).As("idle"), Aim: rig.Aim{AtMost: slower, Ratio: true},
	}
	if len(f.busy) == 0 || len(f.idle) == 0 {
		single.Reason = "no single estimates were asked for"
	}
	return []rig.Number{
		single,
		{
			Name: name + ", beside bare asynq", Measured: perSecond(f.rate()),
			Baseline: perSecond(mean(f.bare)).As(fmt.Sprintf("bare asynq: %d tasks that do nothing", rig.StepsOfEstimate)),
			Aim:      rig.Aim{AtLeast: ofBare, Ratio: true},
		},
		{
			Name: name + ", beside chained asynq", Measured: perSecond(f.rate()),
			Baseline: perSecond(mean(f.chained)).As("the same steps chained by plain asynq, without records"),
			Aim:      rig.Aim{AtLeast: ofChained, Ratio: true},
		},
		{
			Name: "processor time of a listing, without Redis", Measured: each(f.processor),
			Baseline: each(f.chainedCost).As("chained asynq"),
		},
	}
}

func (f *batchFigures) print(out io.Writer) error {
	each := func(total time.Duration) time.Duration {
		return (total / time.Duration(f.listings)).Round(10 * time.Microsecond)
	}
	idle, busy := rig.Quantile(f.idle, 0.95), rig.Quantile(f.busy, 0.95)
	_, err := fmt.Fprintf(out, `bare asynq:                 %8.0f /s, tasks that do nothing, %d for a listing
steps chained by asynq:     %8.0f /s, without records and fast recovery; %s of processor time for each
listings:                   %8d in %s: %.0f /s, %.0f %% of bare and %.0f %% of chained asynq
outcomes:                   %v
processor time per listing: %8s in this process, %s in Redis itself
Redis memory per listing:   %8d bytes
peak memory of the process: %8.0f MB (API, worker, site and authority)
single estimates, p95:      %8s idle, %s while the batch ran: %.2f times
getVehicleDetails:          %8d for %d tuples
`, mean(f.bare), rig.StepsOfEstimate, mean(f.chained), each(f.chainedCost),
		f.listings, f.took.Round(time.Millisecond), f.rate(), 100*f.rate()/mean(f.bare), 100*f.rate()/mean(f.chained), f.outcomes,
		each(f.processor), each(f.inRedis), f.redisMemory/int64(f.listings), float64(f.peakMemory)/(1<<20),
		idle, busy, float64(busy)/float64(max(idle, 1)), f.calls, f.vehicles)
	return err
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
