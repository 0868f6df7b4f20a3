// Package await gives the work of requests to the task engine within the limits of their
// callers, waits for it, and says what it waits for. The outcome of a request is a job or a
// result that was known before.
package await

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Options are the parts and settings of Work.
type Options struct {
	Redis    redis.UniversalClient
	Tasks    *tasks.Engine
	Jobs     *jobs.Store
	Hub      *jobs.Hub // its Run must be running
	Cache    *cache.Cache
	Webhooks *webhook.Store
	Limits   *Limits
	Outages  *tra.Outages
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
	holds   holds
	waiters pace.Counts
}

// New returns the work of one API process.
func New(options Options) *Work {
	return &Work{options: options, holds: holds{redis: options.Redis}}
}

// Waiting returns how many requests wait for a job.
func (k *Work) Waiting() int { return k.waiters.All() }

// Wanted is the work that a request wants done. Equal requests have equal inputs, and so
// one job.
type Wanted struct {
	Kind       string // of job
	Input      any    // of the job
	Attachment []byte // what the caller sent for the job; nil for nothing
	// Identity is what makes two requests the same under an Idempotency-Key.
	Identity any
	// Key is where the result is cached that an earlier job had; "" where none is.
	Key cache.Key
	// Known returns a cached result as the request wants it; nil for one that cannot be
	// used. Without Known it is used as it is.
	Known func(ctx context.Context, result []byte) ([]byte, error)
	// Failed is the job that the work is tried again of. While its refusal is remembered,
	// that is the answer.
	Failed string

	// result is what is known already: the job has succeeded with it. Nil lets workers do the work.
	result []byte
}

// Finish makes the body of a response from the result of a job. Cached says that the result was
// known before.
type Finish func(result []byte, cached bool) ([]byte, error)

// Serve answers a request for the result of a job: the stored outcome of the same request,
// else a cached result, else a job, for which it waits as long as the caller prefers. Only
// a job counts against the limits of the key.
func (k *Work) Serve(w http.ResponseWriter, r *request.Request, wanted Wanted, finish Finish) error {
	found, err := k.Outcome(w, r, wanted)
	if err != nil {
		return err
	}
	r.Place.Leave() // neither the body nor what was made of it is needed while the request waits
	r.Body = http.NoBody
	as, submitted := reading{wanted.Kind, r.View, r.Fields.Asked()}, found.Job
	result, cached, wasCached := found.Result, true, found.wasCached
	if submitted != nil {
		r.Job = submitted.ID
		job, waits, err := k.wait(r, submitted, r.Prefer.Timeout())
		if err != nil {
			return err
		}
		if applied := r.Prefer.Applied(false); applied != "" && job.State.Ended() {
			w.Header().Set("Preference-Applied", applied)
		}
		switch {
		case job.State == jobs.Succeeded:
			result, cached = job.Result, wasCached
		case job.State.Ended():
			return ProblemOf(job)
		default:
			return k.writeUnfinished(w, r, job, waits)
		}
	}
	body, err := finish(result, cached)
	if err != nil {
		return err
	}
	viewed, err := k.options.Limits.ComputeOnce(r, body, as, func() ([]byte, error) { return r.Fields.Of(body, r.View), nil })
	if err != nil {
		return err
	}
	request.WriteBytes(w, http.StatusOK, viewed)
	return nil
}

// reading is how a caller reads a result.
type reading struct {
	Kind   string // of job, whose usual members these are
	View   message.View
	Fields string
}

// Outcome is what responds to a request: a cached result, or the job that computes
// it. The zero value is no outcome.
type Outcome struct {
	Result []byte
	Job    *jobs.Job

	key       cache.Key // where the result is
	replayed  bool      // it is stored under the Idempotency-Key
	wasCached bool      // the result of the job
}

func (o Outcome) isEmpty() bool { return o.Result == nil && o.Job == nil }

// Outcome finds the outcome of a request, or submits its job. It is stored under the
// Idempotency-Key. To a caller who prefers respond-async and has a webhook for the ends of jobs,
// what was known before is announced as an outcome that had to wait, and the response names the
// job as the event does.
func (k *Work) Outcome(w http.ResponseWriter, r *request.Request, wanted Wanted) (found Outcome, err error) {
	ctx := r.Context()
	hasWebhook, err := k.CheckWebhook(r)
	if err != nil {
		return found, err
	}
	same, err := k.Begin(w, r, wanted.Identity)
	if err != nil {
		return found, err
	}
	found, err = k.known(ctx, same, wanted)
	same.SetReplayed(w, found.replayed)
	if err != nil || found.replayed {
		return found, err
	}
	announced := hasWebhook && r.Prefer.Async
	if announced && found.Result != nil {
		wanted.result, found = found.Result, Outcome{wasCached: true}
	}
	if found.Result == nil {
		if found.Job, err = k.Submit(w, r, jobs.Interactive, wanted); err != nil {
			return found, err
		}
		if announced && found.Job.State.Ended() {
			by := tasks.Requester{Owner: r.Key.ID, Class: jobs.Interactive, Query: r.QueryString()}
			if err := k.options.Tasks.NotifyRequester(ctx, found.Job, by); err != nil {
				return found, request.ErrUnavailable.WithCause(err)
			}
			w.Header().Set("Location", r.At(Path(found.Job.ID)))
		}
	}
	if same == nil {
		return found, nil
	}
	return k.storeOutcome(ctx, same, found)
}

// storeOutcome stores the outcome of a request under its Idempotency-Key. What is stored names the
// result or the job, and has a hundred bytes. When the same request was sent twice at once, the
// outcome that was stored first responds.
func (k *Work) storeOutcome(ctx context.Context, same *Idempotent, found Outcome) (Outcome, error) {
	what, value := "cached", string(found.key)
	if found.Job != nil {
		what, value = "job", found.Job.ID
	}
	stored, err := same.replaceOutcome(ctx, what, value, same.outcome)
	if err != nil || stored == value {
		return found, err
	}
	first, err := k.stored(ctx, same)
	if first.isEmpty() {
		return found, err
	}
	return first, err
}

// known returns the outcome of a request that is known without more work: the stored one of
// the same request, else a cached result. It is empty when there is none.
func (k *Work) known(ctx context.Context, same *Idempotent, wanted Wanted) (found Outcome, err error) {
	found, err = k.stored(ctx, same)
	if err == nil && found.isEmpty() && wanted.Key != "" {
		found.key = wanted.Key
		found.Result, err = k.options.Cache.Get(ctx, wanted.Key)
	}
	if err == nil && found.Result != nil && wanted.Known != nil {
		if found.Result, err = wanted.Known(ctx, found.Result); found.Result == nil {
			found = Outcome{}
		}
	}
	return found, err
}

// stored loads the outcome that the same request had before under its Idempotency-Key. It
// is empty when there is none, when its result or its job has expired, and when its job failed
// in a way that may pass: the work is done again.
func (k *Work) stored(ctx context.Context, same *Idempotent) (found Outcome, err error) {
	if key, ok := same.Outcome("cached"); ok {
		found.key = cache.Key(key)
		found.Result, err = k.options.Cache.Get(ctx, found.key)
	}
	if id, ok := same.Outcome("job"); ok {
		found.Job, err = k.options.Tasks.Job(ctx, id)
	}
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return Outcome{}, nil
	case err == nil && found.Job != nil && found.Job.State == jobs.Failed && ProblemOf(found.Job).Retryable():
		return Outcome{}, nil
	}
	found.replayed = !found.isEmpty()
	return found, err
}

// CheckWebhook refuses a request that names a webhook which its key does not have, and reports
// whether the end of the job of one who prefers respond-async is sent to a webhook.
func (k *Work) CheckWebhook(r *request.Request) (has bool, err error) {
	if r.Tags.Webhook == "" && !r.Prefer.Async {
		return false, nil
	}
	hooks, err := k.options.Webhooks.List(r.Context(), r.Key.ID)
	if err != nil {
		return false, err
	}
	named := false
	for _, e := range hooks {
		named = named || e.ID == r.Tags.Webhook
		has = has || e.Disabled == "" && (e.ID == r.Tags.Webhook || slices.Contains(e.Events, webhook.JobCompleted))
	}
	if r.Tags.Webhook != "" && !named {
		return false, problem.Field("webhook", "webhook")
	}
	return has, nil
}
