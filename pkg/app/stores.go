package app

import (
	"log/slog"
	"runtime"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
	"ushuru/worker"
)

// stores are the records in Redis, each opened once.
type stores struct {
	jobs      *jobs.Store
	hub       *jobs.Hub
	engine    *tasks.Engine
	batches   *batch.Store
	cache     *cache.Cache
	catalogue *tra.Store
	drift     *drift.Store
	keys      *keys.Memory
	rates     *pace.Rates
	processor *pace.Processor
	bytes     *pace.Accounts
	webhooks  *webhook.Store
}

func newStores(client redis.UniversalClient, ring *webhook.Ring, log *slog.Logger, counts *metrics.Metrics) *stores {
	records, webhooks := jobs.NewStore(client), webhook.NewStore(client, ring)
	hub, known := jobs.NewHub(records), keys.NewMemory(keys.NewStore(client))
	hub.Refused, known.Refused = refused(counts, log), refused(counts, log)
	results := cache.New(client).OnLookup(counts.Lookup)
	return &stores{
		jobs: records, hub: hub,
		engine: tasks.New(tasks.Options{
			Redis: client, Jobs: records, Results: results, Webhooks: webhooks,
			OnEnd: func(job *jobs.Job) { worker.Ended(counts, log, job) },
		}),
		batches: batch.NewStore(client), cache: results,
		catalogue: tra.NewStore(client, tra.StoreOptions{
			Implausible: drift.Implausible,
			OnLookup:    func(tax, hit bool) { counts.Lookup(cacheOf(tax), hit) },
		}),
		drift: drift.NewStore(client), keys: known, rates: pace.NewRates(client),
		processor: pace.NewProcessor(runtime.GOMAXPROCS(0)), bytes: pace.NewAccounts(client, pace.KindBytes),
		webhooks: webhooks,
	}
}
