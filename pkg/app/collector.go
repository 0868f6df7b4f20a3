package app

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/ai"
	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

const (
	// pingTimeout is how long a scrape waits for Redis to answer at all, and stateTimeout
	// for what it then asks for.
	pingTimeout  = time.Second
	stateTimeout = 2 * time.Second
)

// collector reads at each scrape what all processes share.
type collector struct {
	families      map[string]*prometheus.Desc
	client        redis.UniversalClient
	stores        *stores
	aiLimit       int64
	allowVolatile bool
	queues        []string
}

func newCollector(client redis.UniversalClient, s *stores, aiLimit int64, allowVolatile bool) *collector {
	queues := make([]string, 0, 1+2*len(tasks.Roles))
	queues = append(queues, webhook.Queue)
	for _, role := range tasks.Roles {
		queues = append(queues, tasks.QueueOf(role), tasks.QueueOf(role)+tasks.BulkSuffix)
	}
	return &collector{metrics.Shared(), client, s, aiLimit, allowVolatile, queues}
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
		c.memory, c.clock, c.loss, c.queueSizes, c.jobAges, c.workers, c.authority, c.catalogue, c.budget,
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
	begun := time.Now()
	at, err := c.client.Time(ctx).Result()
	if err != nil {
		return err
	}
	set("clock_offset_seconds", begun.Add(time.Since(begun)/2).Sub(at).Seconds()) //nolint:mnd // the middle of the round trip
	return nil
}

func (c *collector) loss(ctx context.Context, set setGauge) error {
	loss, err := redisx.ReadLoss(ctx, c.client)
	if err != nil {
		return err
	}
	var at *time.Time
	if loss != nil {
		at = &loss.At
	}
	set("redis_loss_timestamp_seconds", unix(at))
	return nil
}

// asynqKeys begins the keys of asynq.
const asynqKeys = "asynq:"

// queueSizes reads the keys of asynq: its Inspector takes no context, and a Redis that
// hangs would hold the scrape.
func (c *collector) queueSizes(ctx context.Context, set setGauge) error {
	states := []string{"pending", "active", "scheduled", "retry", "archived"}
	sizes := map[string][]*redis.IntCmd{}
	oldest := map[string]*redis.StringCmd{}
	pipe := c.client.Pipeline()
	for _, queue := range c.queues {
		key := func(state string) string { return asynqKeys + "{" + queue + "}:" + state }
		for _, state := range states {
			if state == "pending" || state == "active" {
				sizes[queue] = append(sizes[queue], pipe.LLen(ctx, key(state)))
			} else {
				sizes[queue] = append(sizes[queue], pipe.ZCard(ctx, key(state)))
			}
		}
		oldest[queue] = pipe.LIndex(ctx, key("pending"), -1)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isMissing(err) {
		return err
	}
	for queue, counts := range sizes {
		for i, count := range counts {
			set("queue_tasks", float64(count.Val()), queue, states[i])
		}
	}
	return c.queueAges(ctx, oldest, set)
}

// queueAges reads since when the oldest task of each queue is pending; 0 without one.
func (c *collector) queueAges(ctx context.Context, oldest map[string]*redis.StringCmd, set setGauge) error {
	pipe := c.client.Pipeline()
	since := map[string]*redis.StringCmd{}
	for queue, id := range oldest {
		if id.Err() == nil {
			since[queue] = pipe.HGet(ctx, asynqKeys+"{"+queue+"}:t:"+id.Val(), "pending_since")
		}
	}
	if len(since) > 0 {
		if _, err := pipe.Exec(ctx); err != nil && !isMissing(err) {
			return err
		}
	}
	for queue := range oldest {
		age := 0.0
		if reply := since[queue]; reply != nil {
			if nanos, err := reply.Int64(); err == nil {
				age = max(time.Since(time.Unix(0, nanos)).Seconds(), 0)
			}
		}
		set("queue_oldest_seconds", age, queue)
	}
	return nil
}

// jobAges reads since when people and batches wait.
func (c *collector) jobAges(ctx context.Context, set setGauge) error {
	for _, class := range []jobs.Class{jobs.Interactive, jobs.Bulk} {
		since, err := c.stores.jobs.Oldest(ctx, class)
		if err != nil {
			return err
		}
		age := 0.0
		if !since.IsZero() {
			age = max(time.Since(since).Seconds(), 0)
		}
		set("jobs_oldest_seconds", age, string(class))
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
