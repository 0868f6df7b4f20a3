// Package scale shows how the cost of a batch grows with the rows and the workers: API and
// workers are processes of their own, as in a deployment.
package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/app"
	"ushuru/pkg/client"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
)

// Options of Run.
type Options struct {
	Workers  []int     // numbers of worker processes
	Rows     []int     // numbers of listings
	Most     int       // more rows than this are measured with the first number of workers only; 0 is no bound
	Progress io.Writer // gets a line after each run
}

// batchRows is how many rows a batch may have; more rows are several batches.
const batchRows = 10_000

// Run measures each number of workers with each number of rows on a Redis of its own,
// and prints how the cost of a row grows. The vehicles are known: what a row costs is the
// service, not the authority. The pages and the authority are SIMULATED.
func Run(ctx context.Context, out io.Writer, o Options) ([]rig.Number, error) {
	var runs []figures
	for _, rows := range o.Rows {
		for i, workers := range o.Workers {
			if o.Most > 0 && rows > o.Most && i > 0 {
				continue
			}
			f := figures{workers: max(workers, 1), rows: max(rows, 1)}
			if err := rig.WithRedis(ctx, func(conn *redisx.Conn, url string) error {
				return f.measure(ctx, conn, url)
			}); err != nil {
				return numbers(runs), fmt.Errorf("%d workers, %d rows: %w", workers, rows, err)
			}
			runs = append(runs, f)
			_, _ = fmt.Fprintf(o.Progress, "%d workers, %d rows: %.0f rows/s\n", f.workers, f.rows, f.perSecond())
		}
	}
	return numbers(runs), printed(out, runs)
}

// figures are those of one run.
type figures struct {
	workers, rows   int
	took            time.Duration
	processor       time.Duration // of API and workers
	inRedis         time.Duration
	api, apiMost    int64      // bytes; before, and the most
	worker          int64      // bytes; the most of any worker
	redis, most     int64      // bytes after the end more than before, and the most
	reads, commands float64    // of Redis
	left            []rig.Keys // what the run has left in Redis
}

func (f *figures) perSecond() float64 { return float64(f.rows) / f.took.Seconds() }

// service is the service in processes of its own.
type service struct {
	conn    *redisx.Conn
	sites   *rig.Simulators
	api     *rig.Process
	client  *client.Client
	workers []*rig.Process
	cleanup app.Cleanup
}

func start(ctx context.Context, conn *redisx.Conn, url string, workers int) (s *service, err error) {
	s = &service{conn: conn}
	defer func() {
		if err != nil {
			s.cleanup.Run()
		}
	}()
	if s.sites, err = rig.StartSimulators(ctx, nil); err != nil {
		return nil, err
	}
	s.cleanup.Add(s.sites.Stop)
	if s.api, s.client, err = rig.StartAPI(ctx, conn, url); err != nil {
		return nil, err
	}
	s.cleanup.Add(s.api.Stop)
	for range workers {
		worker, err := rig.StartWorker(ctx, url, s.sites.Authority, "any,authority")
		if err != nil {
			return nil, err
		}
		s.cleanup.Add(worker.Stop)
		s.workers = append(s.workers, worker)
	}
	for i := range rig.Cars() { // the vehicles of the site become known
		if _, err := s.client.Estimate(ctx, client.EstimateRequest{URL: rig.Listing(s.sites.Site, "warm", i)}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// time is the processor time of API and workers.
func (s *service) time() time.Duration {
	total := s.api.Time()
	for _, worker := range s.workers {
		total += worker.Time()
	}
	return total
}

func (f *figures) measure(ctx context.Context, conn *redisx.Conn, url string) error {
	s, err := start(ctx, conn, url, f.workers)
	if err != nil {
		return err
	}
	defer s.cleanup.Run()
	f.api, _ = s.api.Memory()
	before, err := readRedis(ctx, conn.Client())
	if err != nil {
		return err
	}
	own, started := s.time(), time.Now()
	if err := f.run(ctx, s, before); err != nil {
		return err
	}
	f.took, f.processor = time.Since(started), s.time()-own
	after, err := readRedis(ctx, conn.Client())
	if err != nil {
		return err
	}
	f.inRedis, f.redis = after.time-before.time, after.memory-before.memory
	f.reads, f.commands = after.reads-before.reads, after.commands-before.commands
	_, f.apiMost = s.api.Memory()
	for _, worker := range s.workers {
		_, most := worker.Memory()
		f.worker = max(f.worker, most)
	}
	f.left, err = rig.ReadKeys(ctx, conn.Client())
	return err
}

// run submits the rows in batches and waits for the end of all.
func (f *figures) run(ctx context.Context, s *service, before redisState) error {
	var ids []string
	for from := 0; from < f.rows; from += batchRows {
		urls := make([]string, min(batchRows, f.rows-from))
		for i := range urls {
			urls[i] = rig.Listing(s.sites.Site, "row", from+i)
		}
		id, err := rig.Submit(ctx, s.client, urls)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	watch := func() {
		if memory, err := rig.UsedMemory(ctx, s.conn.Client()); err == nil {
			f.most = max(f.most, memory-before.memory)
		}
	}
	succeeded := 0
	for _, id := range ids {
		n, err := rig.AwaitEnd(ctx, s.client, id, watch)
		if err != nil {
			return err
		}
		succeeded += n["succeeded"]
	}
	if succeeded != f.rows {
		return fmt.Errorf("only %d of %d rows were estimated", succeeded, f.rows)
	}
	return nil
}

// redisState is what a Redis server says of itself.
type redisState struct {
	memory          int64
	time            time.Duration
	reads, commands float64
}

func readRedis(ctx context.Context, client redis.UniversalClient) (s redisState, err error) {
	if s.memory, err = rig.UsedMemory(ctx, client); err != nil {
		return s, err
	}
	if s.time, err = rig.RedisTime(ctx, client); err != nil {
		return s, err
	}
	info, err := client.Info(ctx, "stats").Result()
	if err != nil {
		return s, err
	}
	reads, err := strconv.ParseFloat(rig.InfoField(info, "total_reads_processed"), 64)
	commands, badCommands := strconv.ParseFloat(rig.InfoField(info, "total_commands_processed"), 64)
	s.reads, s.commands = reads, commands
	return s, errors.Join(err, badCommands)
}
