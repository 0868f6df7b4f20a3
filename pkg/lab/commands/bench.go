package commands

import (
	"errors"
	"log/slog"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/lab/bench"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/lab/sheets"
	"ushuru/pkg/logs"
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
	Recovery benchRecovery `cmd:"" help:"How long an estimate waits when its worker is killed, and after an outage of Redis."`
	Waiters  benchWaiters  `cmd:"" help:"Memory of callers that wait, compared with a bare handler that waits."`
	Scale    benchScale    `cmd:"" help:"How the cost of a batch grows with its rows and with the workers, in processes of their own."`
	Soak     benchSoak     `cmd:"" help:"Whether memory, goroutines or Redis grow over many cached estimates; exit status 1 when they do."`
	Sheet    benchSheet    `cmd:"" help:"Memory and time to load inspection sheets, most of them hostile, each in its own process."`
	Trips    benchTrips    `cmd:"" help:"Round trips, commands and bytes to Redis of an estimate and of a listing of a batch."`
}

type benchBatch struct {
	service.Redis

	Listings    int    `default:"10000" help:"Listings in the batch."`
	Window      int    `default:"200" help:"Listings processed concurrently."`
	Interactive int    `name:"persons" default:"60" help:"Single estimates before the batch, and as many during it."`
	Profile     string `type:"path" help:"File for a CPU profile of the run."`
}

// Run is called by kong.
func (c *benchBatch) Run(s *service.Session) error {
	if s.Production {
		return errors.New("the benchmark cannot run in production: its figures are simulated")
	}
	conn, stop, err := connect(s, c.Redis)
	if err != nil {
		return err
	}
	defer stop()
	_, err = bench.Batch(s.Ctx, s.Out, bench.BatchOptions{
		Redis: conn, Log: quiet(s), Listings: c.Listings, Window: c.Window, Interactive: c.Interactive, Profile: c.Profile,
	})
	return err
}

// connect connects to the Redis of a benchmark: one that it starts, unless the operator
// names another. stop closes the connection, and ends the server.
func connect(s *service.Session, c service.Redis) (conn *redisx.Conn, stop func(), err error) {
	var closing app.Cleanup
	defer func() {
		if err != nil {
			closing.Run()
		}
	}()
	if c.RedisURL == "" {
		server, err := rig.NewRedisServer(s.Ctx)
		if err != nil {
			return nil, nil, err
		}
		closing.Add(server.Stop)
		c.RedisURL = console.Secret(server.URL)
	}
	conn, err = redisx.Open(s.Ctx, redisx.Options{
		URL: string(c.RedisURL), RefuseExposed: s.Production,
	})
	if err != nil {
		return nil, nil, err
	}
	closing.Add(func() { _ = conn.Close() })
	return conn, closing.Run, nil
}

// quiet returns the log of a service that is measured: of errors only.
func quiet(s *service.Session) *slog.Logger { return logs.New(s.Err, logs.Options{Level: "error"}) }

type benchTrips struct {
	Listings int `default:"2000" help:"Listings in the batch."`
	Window   int `default:"200" help:"Listings processed concurrently."`
	Singles  int `default:"60" help:"Single estimates of known vehicles."`
}

// Run is called by kong.
func (c *benchTrips) Run(s *service.Session) error {
	conn, stop, err := connect(s, service.Redis{})
	if err != nil {
		return err
	}
	defer stop()
	_, err = bench.Trips(s.Ctx, s.Out, bench.BatchOptions{
		Redis: conn, Log: quiet(s), Listings: max(c.Listings, 1), Window: c.Window, Interactive: c.Singles,
	})
	return err
}

type benchCached struct {
	service.Redis

	Requests int `default:"10000" help:"Requests in each of nine rounds."`
	Callers  int `default:"16" help:"Callers at the same time."`
}

// Run is called by kong.
func (c *benchCached) Run(s *service.Session) error {
	if s.Production {
		return errors.New("the benchmark cannot run in production: its figures are simulated")
	}
	conn, stop, err := connect(s, c.Redis)
	if err != nil {
		return err
	}
	defer stop()
	_, err = bench.Cached(s.Ctx, s.Out, bench.CachedOptions{Redis: conn, Requests: c.Requests, Callers: c.Callers})
	return err
}

type benchLatency struct {
	service.Redis

	Samples   int           `default:"60" help:"Tasks of bare asynq, and estimates with upstreams that answer at once."`
	Slow      int           `default:"10" help:"Estimates with a TRA that takes its time."`
	Authority time.Duration `name:"latency" default:"1s" help:"Which is this for each call."`
}

// Run is called by kong.
func (c *benchLatency) Run(s *service.Session) error {
	conn, stop, err := connect(s, c.Redis)
	if err != nil {
		return err
	}
	defer stop()
	_, err = bench.Latency(s.Ctx, s.Out, bench.LatencyOptions{
		Redis: conn, Log: quiet(s), Samples: c.Samples, Slow: c.Slow, Authority: c.Authority,
	})
	return err
}

type benchMatch struct {
	Labels  int `default:"20000" help:"Labels in the catalogue, of ten makes."`
	Samples int `default:"2000" help:"Look-ups of each kind."`
}

// Run is called by kong.
func (c *benchMatch) Run(s *service.Session) error {
	_, err := bench.Match(s.Ctx, s.Out, c.Labels, c.Samples)
	return err
}

type benchRead struct {
	Samples int    `default:"50" help:"How often to read the page."`
	Size    int    `default:"600000" help:"Bytes of the generated page."`
	URL     string `name:"url" placeholder:"URL" help:"Original URL of FILE."`
	File    string `arg:"" optional:"" type:"existingfile" name:"FILE" help:"A saved page; without one, a page of --size bytes is generated."`
}

// Run is called by kong.
func (c *benchRead) Run(s *service.Session) error {
	_, err := bench.Read(s.Ctx, s.Out, s.Err, bench.ReadOptions{Samples: c.Samples, Size: c.Size, File: c.File, URL: c.URL})
	return err
}

type benchSheet struct {
	CacheDir string   `placeholder:"DIR" help:"Directory for the compiled PDF reader; empty compiles it each time."`
	Alone    bool     `hidden:"" help:"Load one FILE in this process."`
	Files    []string `arg:"" optional:"" name:"FILE" type:"existingfile" help:"Sheets to load; without any, generated ones, most of them hostile."`
}

// Run is called by kong.
func (c *benchSheet) Run(s *service.Session) error {
	if c.Alone {
		return sheets.LoadSheet(s.Ctx, s.Out, c.CacheDir, c.Files[0])
	}
	return sheets.Sheet(s.Ctx, s.Out, s.Err, sheets.SheetOptions{
		CacheDir: c.CacheDir, Files: c.Files, LoadAlone: func(cacheDir, file string) []string {
			return []string{"bench", "sheet", "--alone", "--cache-dir", cacheDir, file}
		},
	})
}
