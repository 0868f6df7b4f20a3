// Package await gives the work of requests to the task engine, waits for it, and says what
// it waits for. The outcome of a request is a job or a result that was known before.
package await

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/idempotencykey"
	"ushuru/api/limits"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// maxWaiters is the maximum number of requests of a key that wait for a job at one
// API process. Others are answered at once that it has not ended.
const maxWaiters = 200

// Options are the parts and settings of Work.
type Options struct {
	Redis       redis.UniversalClient
	Tasks       *tasks.Engine
	Jobs        *jobs.Store
	Hub         *jobs.Hub // its Run must be running
	Cache       *cache.Cache
	Webhooks    *webhook.Store
	Limits      *limits.Limits
	Idempotency *idempotencykey.Keys
	Outages     *tra.Outages
	// Confirm returns when replicas of Redis have what was written, as the operator
	// demands, or an error. Nil demands nothing.
	Confirm func(ctx context.Context) error
	// WaitMax is the longest time that a request waits for a result.
	WaitMax time.Duration
	// Draining ends all waits.
	Draining context.Context //nolint:containedctx // the life of the server, not of a call
}

// Work is the work of all requests of one API process.
type Work struct {
	options Options
	pauses  pauses
	waiters limits.Counter
}

// New returns the work of one API process.
func New(options Options) *Work {
	return &Work{options: options, pauses: pauses{redis: options.Redis}}
}

// Waiting returns how many requests wait for a job.
func (k *Work) Waiting() int { return k.waiters.Count() }
