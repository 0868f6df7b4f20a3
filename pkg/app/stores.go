package app

import (
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/drift"
	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/quota"
	"ushuru/pkg/tra"
	"ushuru/pkg/upload"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
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
	limiter   *quota.Limiter
	requests  *idempotency.Store
	uploads   *upload.Store
	webhooks  *webhook.Store
}

func newStores(client redis.UniversalClient) *stores {
	records, results, webhooks := jobs.NewStore(client), cache.New(client), webhook.NewStore(client)
	return &stores{
		jobs: records, hub: jobs.NewHub(records),
		engine:  tasks.New(tasks.Options{Redis: client, Jobs: records, Results: results, Webhooks: webhooks}),
		batches: batch.NewStore(client), cache: results, catalogue: tra.NewStore(client, tra.StoreOptions{}),
		drift: drift.NewStore(client), keys: keys.NewMemory(keys.NewStore(client)), limiter: quota.NewLimiter(client),
		requests: idempotency.NewStore(client), uploads: upload.NewStore(client), webhooks: webhooks,
	}
}
