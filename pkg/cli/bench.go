package cli

import (
	"errors"
	"time"

	"ushuru/pkg/lab"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/lab/sheets"
	"ushuru/pkg/redisx"
)

// benchCommand measures; it asserts nothing.
type benchCommand struct {
	All      benchAll      `cmd:"" help:"All benchmarks one after the other, and one table of their numbers and aims."`
	Batch    benchBatch    `cmd:"" help:"Batch throughput compared with bare and chained asynq, and interactive latency during it."`
	Cached   benchCached   `cmd:"" help:"Cached estimates a second, compared with a bare handler that reads the same bytes from Redis."`
	Latency  benchLatency  `cmd:"" help:"Time of a single estimate of a new vehicle on an idle service, compared with tasks of bare asynq."`
	Match    benchMatch    `cmd:"" help:"Time to match by code and to find candidates by name, compared with a bare map."`
	Read     benchRead     `cmd:"" help:"Time to read a listing page, compared with x/net/html parsing it."`
	Hostile  benchHostile  `cmd:"" help:"Estimates of one key while another asks for pages that never end."`
	Visit    benchVisit    `cmd:"" help:"Bytes of a buyer's first visit, from the start page to the answer."`
	Overhead benchOverhead `cmd:"" help:"What metrics and counts add to a batch, by pairs of batches with and without them."`
	Recovery benchRecovery `cmd:"" help:"How long an estimate waits when its worker is killed, and after an outage of Redis."`
	Waiters  benchWaiters  `cmd:"" help:"Memory of callers that wait, compared with a bare handler that waits."`
	Scale    benchScale    `cmd:"" help:"How the cost of a batch grows with its rows and with the workers, in processes of their own."`
	Soak     benchSoak     `cmd:"" help:"Whether memory, goroutines or Redis grow over many cached estimates; exit status 1 when they do."`
	Sheet    benchSheet    `cmd:"" help:"Memory and time to load inspection sheets, most of them hostile, each in its own process."`
	Trips    benchTrips    `cmd:"" help:"Round trips, commands and bytes to Redis of an estimate and of a listing of a batch."`
}

type benchBatch struct {
	redisConfig
	Listings    int    `default:"10000" help:"Listings in the batch."`
	Window      int    `default:"200" help:"Listings processed concurrently."`
	Interactive int    `name:"persons" default:"60" help:"Single estimates before the batch, and as many during it."`
	Profile     string `type:"path" help:"File for a CPU profile of the run."`
}

// Run is called by kong.
func (c *benchBatch) Run(r *run) error {
	if r.common.production() {
		return errors.New("the benchmark cannot run in production: its figures are simulated")
	}
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, err = lab.Batch(r.ctx, r.Out, lab.BatchOptions{
		Redis: conn, Log: r.log, Listings: c.Listings, Window: c.Window, Interactive: c.Interactive, Profile: c.Profile,
	})
	return err
}

// benchRedis connects to the Redis of a benchmark: one that it starts, unless the
// operator names another.
func (r *run) benchRedis(c redisConfig) (*redisx.Conn, error) {
	r.log = newLog(r.Err, "error")
	if c.RedisURL == "" {
		server, err := rig.NewRedisServer(r.ctx)
		if err != nil {
			return nil, err
		}
		r.cleanup.Add(server.Stop)
		c.RedisURL = Secret(server.URL)
	}
	return r.redis(c, false)
}

type benchTrips struct {
	Listings int `default:"2000" help:"Listings in the batch."`
	Window   int `default:"200" help:"Listings processed concurrently."`
	Singles  int `default:"60" help:"Single estimates of known vehicles."`
}

// Run is called by kong.
func (c *benchTrips) Run(r *run) error {
	conn, err := r.benchRedis(redisConfig{})
	if err != nil {
		return err
	}
	_, err = lab.Trips(r.ctx, r.Out, lab.BatchOptions{
		Redis: conn, Log: r.log, Listings: max(c.Listings, 1), Window: c.Window, Interactive: c.Singles,
	})
	return err
}

type benchCached struct {
	redisConfig
	Requests int `default:"10000" help:"Requests in each of nine rounds."`
	Callers  int `default:"16" help:"Callers at the same time."`
}

// Run is called by kong.
func (c *benchCached) Run(r *run) error {
	if r.common.production() {
		return errors.New("the benchmark cannot run in production: its figures are simulated")
	}
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, err = lab.Cached(r.ctx, r.Out, lab.CachedOptions{Redis: conn, Requests: c.Requests, Callers: c.Callers})
	return err
}

type benchLatency struct {
	redisConfig
	Samples   int           `default:"60" help:"Tasks of bare asynq, and estimates with upstreams that answer at once."`
	Slow      int           `default:"10" help:"Estimates with a TRA that takes its time."`
	Authority time.Duration `name:"latency" default:"1s" help:"Which is this for each call."`
}

// Run is called by kong.
func (c *benchLatency) Run(r *run) error {
	conn, err := r.benchRedis(c.redisConfig)
	if err != nil {
		return err
	}
	_, err = lab.Latency(r.ctx, r.Out, lab.LatencyOptions{
		Redis: conn, Log: r.log, Samples: c.Samples, Slow: c.Slow, Authority: c.Authority,
	})
	return err
}

type benchMatch struct {
	Labels  int `default:"20000" help:"Labels in the catalogue, of ten makes."`
	Samples int `default:"2000" help:"Look-ups of each kind."`
}

// Run is called by kong.
func (c *benchMatch) Run(r *run) error {
	_, err := lab.Match(r.ctx, r.Out, c.Labels, c.Samples)
	return err
}

type benchRead struct {
	Samples int    `default:"50" help:"How often to read the page."`
	Size    int    `default:"600000" help:"Bytes of the generated page."`
	URL     string `name:"url" placeholder:"URL" help:"Original URL of FILE."`
	File    string `arg:"" optional:"" type:"existingfile" name:"FILE" help:"A saved page; without one, a page of --size bytes is generated."`
}

// Run is called by kong.
func (c *benchRead) Run(r *run) error {
	_, err := lab.Read(r.Out, r.Err, lab.ReadOptions{Samples: c.Samples, Size: c.Size, File: c.File, URL: c.URL})
	return err
}

type benchSheet struct {
	CacheDir string   `placeholder:"DIR" help:"Directory for the compiled PDF reader; empty compiles it each time."`
	Alone    bool     `hidden:"" help:"Load one FILE in this process."`
	Files    []string `arg:"" optional:"" name:"FILE" type:"existingfile" help:"Sheets to load; without any, generated ones, most of them hostile."`
}

// Run is called by kong.
func (c *benchSheet) Run(r *run) error {
	if c.Alone {
		return sheets.LoadSheet(r.ctx, r.Out, c.CacheDir, c.Files[0])
	}
	return sheets.Sheet(r.ctx, r.Out, r.Err, sheets.SheetOptions{
		CacheDir: c.CacheDir, Files: c.Files, LoadAlone: func(cacheDir, file string) []string {
			return []string{"bench", "sheet", "--alone", "--cache-dir", cacheDir, file}
		},
	})
}
