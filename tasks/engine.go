package tasks

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/webhook"
)

// Options are the parts of an Engine. Redis and the stores are required.
type Options struct {
	Redis    redis.UniversalClient // holds the queues; it stays the caller's
	Jobs     *jobs.Store
	Results  *cache.Cache
	Webhooks *webhook.Store

	// BeforeSucceed is called with a job and its result before the job ends, so
	// that the result is cached when the next caller looks for it. It may be
	// called twice. It is nil in processes that end no jobs.
	BeforeSucceed func(ctx context.Context, job *jobs.Job, result json.RawMessage) error
	// Notifiers tell subscribers that are neither jobs nor API keys of a job's
	// end, by the first word of the subscriber's name.
	Notifiers map[string]Notifier
	// IsRunning reports whether a worker belongs to this process, and whether that worker still
	// runs the step of a claim. After Redis has gone back in time a step may be claimed
	// by a run that has ended. A nil function knows no worker.
	IsRunning func(worker, claim string) (own, running bool)
	// Fallback returns the output of a step that waits for a worker, when it can be made
	// without one and no worker can be expected to run the step now. Sweep asks for it.
	// Nil makes none.
	Fallback func(ctx context.Context, job *jobs.Job, step string) (output json.RawMessage, ok bool)
	// OnLost is called with a job that Sweep has ended because no worker did a step of
	// its: "" for its children. Nil is not called.
	OnLost func(job *jobs.Job, step string, failure *jobs.Error)
	// OnEnd, if not nil, is called once with every job that this process ends, as it is
	// then; not when the process dies in between.
	OnEnd func(job *jobs.Job)
	// OnTakeover, if not nil, is called with every step that is given to another worker
	// because its own is gone.
	OnTakeover func(job *jobs.Job, step string)
	// Sequential does nothing in the background, for tests that must run the same way
	// every time.
	Sequential bool
}

// Notifier tells subscribers of a job that has ended. It may be called twice
// with the same subscribers: a job is finalized only when all its notifiers
// have returned without an error. A process that lacks the notifier for a
// subscriber leaves the job to one that has it.
type Notifier func(ctx context.Context, job *jobs.Job, subscribers []string) error

// Engine advances jobs: it opens the steps that are next, enqueues their tasks,
// and ends jobs whose outputs are all there. Every method may be called twice,
// by any process, at any time.
type Engine struct {
	options    Options
	client     *asynq.Client
	inspector  *asynq.Inspector
	notifiers  map[string]Notifier // by the first word of a subscriber
	turns      *pace.Turns
	announcing sync.Map // an *atomic.Bool of each queue: an announcement is about to be sent
}

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{
		options: o, notifiers: map[string]Notifier{}, turns: pace.NewTurns(o.Redis),
		client: asynq.NewClientFromRedisClient(o.Redis), inspector: asynq.NewInspectorFromRedisClient(o.Redis),
	}
	maps.Copy(e.notifiers, o.Notifiers)
	e.notifiers[subscriberJob], e.notifiers[subscriberKey] = e.notifyJobs, e.notifyKeys
	return e
}
