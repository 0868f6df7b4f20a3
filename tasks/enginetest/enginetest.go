// Package enginetest makes engines for tests, on a Redis whose clock the test
// moves. The product never imports it.
package enginetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Rig is an engine without workers: the test ends steps and jobs itself.
type Rig struct {
	*tasks.Engine

	TB     testing.TB
	Server *miniredis.Miniredis
	Redis  *redis.Client
	Jobs   *jobs.Store
	Queues *asynq.Inspector

	now time.Time // of the server's clock, once the test has moved it
}

// New makes a Rig on a Redis of its own; change may set the engine's options.
func New(t testing.TB, change ...func(*tasks.Options)) *Rig {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return &Rig{
		Engine: NewEngine(client, change...), TB: t, Server: server, Redis: client,
		Jobs: jobs.NewStore(client), Queues: asynq.NewInspectorFromRedisClient(client),
	}
}

// NewEngine makes an engine on a Redis connection; change may set its options.
func NewEngine(client redis.UniversalClient, change ...func(*tasks.Options)) *tasks.Engine {
	options := tasks.Options{
		Redis: client, Jobs: jobs.NewStore(client), Results: cache.New(client), Webhooks: webhook.NewStore(client, nil),
	}
	for _, set := range change {
		set(&options)
	}
	return tasks.New(options)
}

// WithNotifier gives an engine the notifier of subscribers with a first word.
func WithNotifier(word string, notifier tasks.Notifier) func(*tasks.Options) {
	return func(o *tasks.Options) { o.Notifiers = map[string]tasks.Notifier{word: notifier} }
}

// Submit submits a job of a kind.
func (r *Rig) Submit(kind string, input any, by tasks.Requester) *jobs.Job {
	r.TB.Helper()
	job, err := r.Engine.Submit(r.TB.Context(), kind, input, by)
	if err != nil {
		r.TB.Fatal(err)
	}
	return r.Get(job.ID)
}

// Get reads a job.
func (r *Rig) Get(id string) *jobs.Job {
	r.TB.Helper()
	job, err := r.Jobs.Get(r.TB.Context(), id)
	if err != nil {
		r.TB.Fatal(err)
	}
	return job
}

// Complete gives a step its output, as a worker does.
func (r *Rig) Complete(id, step, output string) {
	r.TB.Helper()
	if _, err := r.Engine.Complete(r.TB.Context(), r.Get(id), step, json.RawMessage(output), tasks.Run{}); err != nil {
		r.TB.Fatal(err)
	}
}

// Succeed ends a job with a result, as its last step does.
func (r *Rig) Succeed(id, result string) {
	r.TB.Helper()
	if err := r.End(r.TB.Context(), r.Get(id), jobs.End{State: jobs.Succeeded, Result: json.RawMessage(result)}); err != nil {
		r.TB.Fatal(err)
	}
}

// Pass moves the clock of Redis.
func (r *Rig) Pass(d time.Duration) {
	if r.now.IsZero() {
		r.now = time.Now().Truncate(time.Second)
	}
	r.now = r.now.Add(d)
	r.Server.SetTime(r.now)
}

// Sweep lets time pass, then sweeps the jobs of a class with a heartbeat that
// is reliable.
func (r *Rig) Sweep(after time.Duration, class jobs.Class) {
	r.TB.Helper()
	r.Pass(after)
	if _, _, err := r.Engine.Sweep(r.TB.Context(), class, func() bool { return true }); err != nil {
		r.TB.Fatal(err)
	}
}
