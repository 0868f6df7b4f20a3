package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/logs"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

const (
	// pingTimeout is how long a scrape waits for Redis to answer at all, and stateTimeout
	// for what it then asks for.
	pingTimeout  = time.Second
	stateTimeout = 2 * time.Second
)

// The caches of the authority's answers, besides those of package cache.
const (
	cacheTaxes = "tra_tax"
	cacheLists = "tra_list"
)

// channels are those of Redis that processes listen to.
var channels = []string{jobs.ChannelEnqueued, jobs.ChannelEnded, keys.ChannelChanged}

// newMetrics returns the metrics of the process, with all their label values.
func (a *App) newMetrics() *metrics.Metrics {
	o := metrics.Options{
		Steps: tasks.StepTypes(), Codes: errorCodes(), Calls: tra.Calls,
		Caches: append(slices.Clone(cache.Names), cacheTaxes, cacheLists), Channels: channels,
		SiteOf: sites.NameOf, Version: a.options.Version, Commit: a.options.Commit,
		Recorder:   metrics.NewRecorder(metrics.RecorderOptions{Redis: a.options.Redis.Client(), HostOf: sites.HostOf}),
		MatchedBy:  []string{string(vehicle.ByCode), string(vehicle.ByAI), string(vehicle.ByName), string(vehicle.ByCaller)},
		Confidence: []string{string(vehicle.High), string(vehicle.Medium), string(vehicle.Low)},
	}
	if worker := a.options.Worker; worker != nil {
		o.Fetches, o.Asks = slices.Contains(worker.Roles, tasks.RoleAny), slices.Contains(worker.Roles, tasks.RoleAuthority)
	}
	o.AI = ai.Outcomes()
	for _, kind := range tra.Kinds {
		o.Kinds = append(o.Kinds, string(kind))
	}
	for _, site := range sites.All() {
		o.Sites = append(o.Sites, site.Name)
	}
	return metrics.New(o)
}

// Metrics returns the metrics of the process.
func (a *App) Metrics() *metrics.Metrics { return a.metrics }

// errorCodes returns the codes of all errors, without details of the sentences.
func errorCodes() (codes []string) {
	for _, key := range message.Keys("error") {
		codes = append(codes, message.CodeOf(key))
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// cacheOf returns the name of the cache of the authority's taxes or lists.
func cacheOf(tax bool) string {
	if tax {
		return cacheTaxes
	}
	return cacheLists
}

// refused returns what counts a message that could not be taken. The first of each channel
// is logged: a sender that sends many must not fill the log.
func refused(counts *metrics.Metrics, log *slog.Logger) func(channel string, cause error) {
	var logged sync.Map
	return func(channel string, cause error) {
		counts.Count("redis_messages_refused_total", channel)
		if _, again := logged.LoadOrStore(channel, true); !again {
			log.Error("a message on a channel of Redis was refused; further ones are only counted",
				"channel", channel, "cause", cause)
		}
	}
}

// countCall counts a call to the authority.
func (a *App) countCall(name string, took time.Duration, err error) {
	kind := string(tra.KindOf(err))
	switch {
	case kind != "" || err == nil:
	case errors.Is(err, context.Canceled):
		kind = metrics.Gone
	default: // its time was up
		kind = string(tra.Unavailable)
	}
	a.metrics.Call(metrics.Call{To: metrics.Authority, Name: name, Kind: kind, Took: took})
}

// collector reads at each scrape what all processes share.
type collector struct {
	families      map[string]*prometheus.Desc
	client        redis.UniversalClient
	stores        *stores
	aiLimit       int64
	allowVolatile bool
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.families {
		out <- d
	}
}

// Collect implements prometheus.Collector. While Redis is away it says only that, within
// pingTimeout.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	gauge := func(name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.families[name], prometheus.GaugeValue, value, labels...)
	}
	if !c.answers(ctx) {
		gauge("redis_up", 0)
		return
	}
	gauge("redis_up", 1)
	gauge("redis_writable", one(redisx.CheckWrite(ctx, c.client) == nil))
	var reading sync.WaitGroup
	// What cannot be read is left out.
	for _, read := range []func(context.Context, setGauge) error{
		c.memory, c.clock, c.loss, c.queues, c.jobAges, c.workers, c.authority, c.catalogue, c.budget,
	} {
		reading.Go(func() { _ = logs.Guarded(func() error { return read(ctx, gauge) })() })
	}
	reading.Wait()
}

// setGauge sets a gauge.
type setGauge func(name string, value float64, labels ...string)

// answers reports whether Redis answers in time.
func (c *collector) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return redisx.Ping(ctx, c.client) == nil
}

func (c *collector) memory(ctx context.Context, set setGauge) error {
	memory, err := redisx.ReadMemory(ctx, c.client)
	if err != nil {
		return err
	}
	set("redis_memory_bytes", float64(memory.Used))
	set("redis_memory_limit_bytes", float64(memory.Limit))
	set("redis_unsaved", one(memory.Unsaved != ""))
	set("redis_volatile", one(memory.Volatile && !c.allowVolatile))
	return nil
}

// clock compares the clock of this machine with that of Redis, which leases go by.
func (c *collector) clock(ctx context.Context, set setGauge) error {
	ahead, err := status.ReadAhead(ctx, c.client)
	if err != nil {
		return err
	}
	set("clock_offset_seconds", ahead.Seconds())
	return nil
}

func (c *collector) loss(ctx context.Context, set setGauge) error {
	loss, err := redisx.ReadLoss(ctx, c.client)
	if err != nil {
		return err
	}
	var lost *time.Time
	if loss != nil {
		lost = &loss.At
	}
	set("redis_loss_timestamp_seconds", unix(lost))
	return nil
}

func (c *collector) queues(ctx context.Context, set setGauge) error {
	queues, err := status.ReadQueues(ctx, c.client)
	if err != nil {
		return err
	}
	for _, queue := range queues {
		for _, state := range status.QueueStates {
			set("queue_tasks", float64(queue.Size(state)), queue.Name, state)
		}
		set("queue_oldest_seconds", (time.Duration(queue.OldestMS) * time.Millisecond).Seconds(), queue.Name)
	}
	return nil
}

// jobAges reads since when people and batches wait.
func (c *collector) jobAges(ctx context.Context, set setGauge) error {
	ages, err := status.ReadAges(ctx, c.stores.jobs, time.Now())
	if err != nil {
		return err
	}
	for _, class := range []jobs.Class{jobs.Interactive, jobs.Bulk} {
		set("jobs_oldest_seconds", ages[class].Seconds(), string(class))
	}
	return nil
}

func (c *collector) workers(ctx context.Context, set setGauge) error {
	alive, _, err := c.stores.jobs.Workers(ctx)
	if err != nil {
		return err
	}
	count, overdue := map[string]int{}, 0
	for _, worker := range alive {
		overdue += len(worker.Overdue)
		for _, role := range worker.Roles {
			count[role]++
		}
	}
	for _, role := range tasks.Roles {
		set("workers", float64(count[string(role)]), string(role))
	}
	set("tasks_overdue", float64(overdue))
	return nil
}

func (c *collector) authority(ctx context.Context, set setGauge) error {
	status, err := c.stores.catalogue.Status(ctx)
	if err != nil {
		return err
	}
	for _, state := range []tra.State{tra.Up, tra.Degraded, tra.Down, tra.Unknown} {
		set("authority_state", one(status.State == state), string(state))
	}
	for _, reason := range []string{
		tra.ReasonNoWorker, string(tra.Refused), string(tra.Unavailable), string(tra.Certificate),
	} {
		set("authority_outage", one(status.Reason == reason), reason)
	}
	set("authority_last_success_timestamp_seconds", unix(status.LastSuccessAt))
	return nil
}

func (c *collector) catalogue(ctx context.Context, set setGauge) error {
	state, err := c.stores.catalogue.State(ctx)
	if err != nil {
		return err
	}
	set("authority_period", float64(state.Period))
	set("catalogue_synced_timestamp_seconds", unix(state.AsOf))
	set("catalogue_quarantined", float64(state.Quarantined))
	return nil
}

func (c *collector) budget(ctx context.Context, set setGauge) error {
	day, err := ai.ReadBudget(ctx, c.client, c.aiLimit, time.Now())
	if err != nil {
		return err
	}
	set("ai_budget_used_tokens", float64(day.Used))
	set("ai_budget_tokens", float64(day.Limit))
	set("ai_budget_left_tokens", float64(max(day.Limit-day.Used, 0)))
	return nil
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func unix(at *time.Time) float64 {
	if at == nil {
		return 0
	}
	return float64(at.Unix())
}
