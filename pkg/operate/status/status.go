// Package status reads what an operator wants to know of a running service, over Redis:
// what needs attention, TRA's calculator, workers, sites, failures, batches and keys, the
// AI, webhooks and queues. The console and `ushuru status` show it. It changes nothing; it
// writes a probe.
package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/logs"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
)

// hoursShown is how many hours are shown, the present one included.
const hoursShown = 24

// Status is what an operator wants to know.
type Status struct {
	At        time.Time `json:"at"`
	Needs     []Need    `json:"needs"` // what needs attention, the worst first
	Authority Authority `json:"authority"`
	Workers   []Role    `json:"workers"`
	Sites     []Site    `json:"sites"`
	Failures  []Failure `json:"failures"`
	Batches   []Batch   `json:"batches"` // running ones, and the last that ended
	Keys      []Key     `json:"keys"`    // valid ones, those used last first, and then revoked ones
	AI        AI        `json:"ai"`
	Webhooks  []Webhook `json:"webhooks"`
	Queues    []Queue   `json:"queues"`
	Redis     Redis     `json:"redis"`
	People    People    `json:"people"`
	API       API       `json:"api"`
	// OldestMS is for how long the oldest job of a class has not ended.
	OldestMS map[jobs.Class]int64 `json:"oldestMs"`
	// Unread are the parts that could not be read, with the reason.
	Unread []string `json:"unread,omitempty"`
}

// Hour is how something went in one hour.
type Hour struct {
	Start  time.Time `json:"start"`
	OK     int64     `json:"ok"`
	Failed int64     `json:"failed"`
}

// Options of a Reader. Redis is required.
type Options struct {
	Redis  redis.UniversalClient
	Limits pace.Limits      // of keys that have none of their own; 0 is no limit
	Now    func() time.Time // default time.Now
}

// Reader reads the status. It is safe for concurrent use.
type Reader struct {
	options   Options
	redis     redis.UniversalClient
	jobs      *jobs.Store
	batches   *batch.Store
	keys      *keys.Store
	webhooks  *webhook.Store
	authority *tra.Store
	drift     *drift.Store
	bytes     *pace.Accounts
}

// New makes a Reader.
func New(o Options) *Reader {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Reader{
		options: o, redis: o.Redis, jobs: jobs.NewStore(o.Redis), batches: batch.NewStore(o.Redis), keys: keys.NewStore(o.Redis),
		webhooks: webhook.NewStore(o.Redis, nil), authority: tra.NewStore(o.Redis, tra.StoreOptions{Now: o.Now}),
		drift: drift.NewStore(o.Redis), bytes: pace.NewAccounts(o.Redis, pace.KindBytes),
	}
}

// reading is one Read.
type reading struct {
	*Reader

	now    time.Time
	hours  []metrics.Hour // the newest first
	day    metrics.Counts // their sum
	marks  metrics.Marks
	usage  map[string]metrics.Usage
	alive  []jobs.Worker
	seen   map[string]time.Time // roles
	issued []keys.Key
	names  map[string]keys.Key
	active []batch.ActiveBatch
}

// Read reads the status. A part that cannot be read is empty and named in Unread; the
// error is that of Redis, when nothing can be read.
func (r *Reader) Read(ctx context.Context) (Status, error) {
	reading := &reading{Reader: r, now: r.options.Now()}
	if err := reading.common(ctx); err != nil {
		return Status{}, fmt.Errorf("status: %w", err)
	}
	status := Status{At: reading.now.UTC().Truncate(time.Second), Sites: reading.sites(), Workers: reading.roles()}
	parts := map[string]func(context.Context) error{
		"authority":             into(&status.Authority, reading.authorityPart),
		"pauses of sites":       func(ctx context.Context) error { return reading.pauses(ctx, status.Sites) },
		"failures":              into(&status.Failures, reading.failures),
		"batches":               into(&status.Batches, reading.batchPart),
		"keys":                  into(&status.Keys, reading.keyPart),
		"AI":                    into(&status.AI, reading.aiPart),
		"webhooks":              into(&status.Webhooks, reading.webhookPart),
		"queues":                into(&status.Queues, reading.queues),
		"memory of Redis":       into(&status.Redis, reading.redisPart),
		"jobs":                  into(&status.OldestMS, reading.ages),
		"visitors of the pages": into(&status.People, reading.people),
		"API":                   into(&status.API, reading.apiPart),
	}
	status.Unread = readAll(ctx, parts)
	for i := range status.Workers {
		status.Workers[i].countWaiting(status.Queues)
	}
	status.Needs = status.NeedsOf()
	return status, ctx.Err()
}

// into returns what reads a part of the status.
func into[T any](part *T, read func(context.Context) (T, error)) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		*part, err = read(ctx)
		return err
	}
}

// readAll runs the parts at the same time and returns which failed.
func readAll(ctx context.Context, parts map[string]func(context.Context) error) (unread []string) {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
	)
	for name, read := range parts {
		group.Go(func() {
			if err := logs.Guarded(func() error { return read(ctx) })(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				cause, _, _ := strings.Cut(err.Error(), "\n") // without the stack of a panic
				unread = append(unread, name+": "+cause)
			}
		})
	}
	group.Wait()
	slices.Sort(unread)
	return unread
}

// common reads what several parts need.
func (r *reading) common(ctx context.Context) (err error) {
	var errs [5]error
	var group sync.WaitGroup
	for i, read := range []func() error{
		func() (err error) {
			r.hours, err = metrics.Hours(ctx, r.redis, r.now, hoursShown)
			marks, unread := metrics.ReadMarks(ctx, r.redis) // after the counts, whose examples they have
			r.marks = marks
			return errors.Join(err, unread)
		},
		func() (err error) { r.usage, err = metrics.ReadUsage(ctx, r.redis, r.now); return err },
		func() (err error) { r.alive, r.seen, err = r.jobs.Workers(ctx); return err },
		func() (err error) { r.issued, err = r.keys.List(ctx); return err },
		func() (err error) { r.active, err = r.batches.ListActive(ctx); return err },
	} {
		group.Go(func() { errs[i] = logs.Guarded(read)() })
	}
	group.Wait()
	r.day = metrics.Sum(r.hours)
	r.names = make(map[string]keys.Key, len(r.issued))
	for _, key := range r.issued {
		r.names[key.ID] = key
	}
	return errors.Join(errs[:]...)
}

// byHour returns how something went in each hour, the oldest first.
func (r *reading) byHour(count func(metrics.What) (ok, counts bool)) []Hour {
	hours := make([]Hour, len(r.hours))
	for i, hour := range r.hours {
		shown := &hours[len(hours)-1-i]
		shown.Start = hour.Start
		for what, n := range hour.Ended {
			switch ok, counts := count(what); {
			case !counts:
			case ok:
				shown.OK += n
			default:
				shown.Failed += n
			}
		}
	}
	return hours
}

// nameOf returns the name of an API key, or what is known instead.
func (r *reading) nameOf(owner string) string {
	if key, ok := r.names[owner]; ok {
		return key.Name
	}
	return owner
}
