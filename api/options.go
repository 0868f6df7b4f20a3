package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/api/await"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// defaultWaitMax is Options.WaitMax when that is 0.
const defaultWaitMax = 25 * time.Second

// Options are the parts and settings of a Server. Every part is required
// unless its comment says otherwise. Parts are built once, by the caller, who
// also closes them.
type Options struct {
	Redis redis.UniversalClient // written to by GET /readyz
	Tasks *tasks.Engine         // submits jobs
	Jobs  *jobs.Store
	Hub   *jobs.Hub // its Run must be running

	Batches   *batch.Store
	Bytes     *pace.Accounts
	Cache     *cache.Cache
	Catalogue *tra.Store
	Drift     *drift.Store
	Rates     *pace.Rates
	Processor *pace.Processor // nil makes that of a process that does nothing else
	Webhooks  *webhook.Store

	// Verify returns the record of a valid API key, or keys.ErrInvalid.
	Verify func(ctx context.Context, plain string) (keys.Key, error)
	// Status returns the status of TRA's calculator. Nil is that of the Catalogue.
	Status func(ctx context.Context) (tra.Status, error)
	// Confirm returns when replicas of Redis have what was written, as the operator
	// demands, or an error: then 503 is answered in place of 202 or 201. Nil demands
	// nothing.
	Confirm func(ctx context.Context) error
	// AIUsage returns how many tokens of the AI a key has used today, and when the day
	// ends. Nil knows of none.
	AIUsage func(ctx context.Context, key string) (used int64, resets time.Time, err error)
	// Costs calculates the drive-away cost at the caller's exchange rate. Nil
	// means the embedded tables.
	Costs *cost.Tables
	// Sheets are the hosts that inspection sheets are fetched from. Nil means
	// the known hosts.
	Sheets *scan.Hosts

	// Log receives one line for each request. Nil means slog.Default().
	Log *slog.Logger
	// Limits apply to keys without limits of their own. 0 means no limit.
	Limits pace.Limits
	// WaitMax is the longest time that a request waits for a result. 0 means
	// 25 s.
	WaitMax time.Duration
	// KeepAlive is the interval between comments on an event stream without
	// events. 0 means 15 s.
	KeepAlive time.Duration
	// AllowLoopback accepts listings and webhooks on this machine, for the demo
	// and for tests.
	AllowLoopback bool
	// Simulated adds X-Simulated to every response: the figures are simulated.
	Simulated bool

	Page PageOptions

	// TrustedProxies are networks of proxies whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Traces record the requests. Nil records none.
	Traces *trace.Tracer
	// Metrics count the requests. Nil counts none.
	Metrics *metrics.Metrics

	// Asynqmon is served at /monitoring. Without a password it is not served,
	// and AsynqRedis and MonitoringUser may be empty.
	AsynqRedis         asynq.RedisConnOpt
	MonitoringUser     string
	MonitoringPassword string
	MonitoringWritable bool // the operator may pause queues, run and delete tasks
}

// setDefaults fills the optional parts that were left out.
func (o *Options) setDefaults() (err error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Processor == nil {
		o.Processor = pace.NewProcessor(runtime.GOMAXPROCS(0))
	}
	o.Costs = cmp.Or(o.Costs, cost.Embedded())
	o.KeepAlive = cmp.Or(o.KeepAlive, await.KeepAlive)
	o.WaitMax = cmp.Or(o.WaitMax, defaultWaitMax)
	o.Page.Jobs, o.Page.Rate = cmp.Or(o.Page.Jobs, defaultPageJobs), cmp.Or(o.Page.Rate, defaultPageRate)
	if o.Status == nil {
		o.Status = o.Catalogue.Status
	}
	if o.Sheets == nil {
		o.Sheets, err = scan.NewHosts()
	}
	return err
}
