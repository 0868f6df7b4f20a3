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
	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errCancelled   = problem.Conflict("cancelled")
	errNotFinished = problem.New(http.StatusGatewayTimeout, "not_finished", nil).After(request.PollAfter)
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
}

// Finish makes the body of a response from the result of a job, or from its error. Cached
// says that the result was known before.
type Finish func(result []byte, cached bool, err error) ([]byte, error)

// Serve answers a request for the result of a job: the stored outcome of the same request,
// else a cached result, else a job, for which it waits as long as the caller prefers. Only
// a job counts against the limits of the key.
func (k *Work) Serve(w http.ResponseWriter, r *request.Request, wanted Wanted, finish Finish) error {
	found, err := k.Outcome(w, r, wanted)
	if err != nil {
		return err
	}
	r.Place.Leave() // the body is not needed while the request waits
	result, cached, failed := found.Result, true, error(nil)
	if job := found.Job; job != nil {
		r.Job = job.ID
		job, why, err := k.wait(r, job, r.Prefer.Timeout())
		switch {
		case err != nil:
			return err
		case !job.State.Ended():
			return k.unfinished(w, r, job, why, found.view)
		case job.State != jobs.Succeeded:
			failed = ProblemOf(job)
		}
		if applied := r.Prefer.Applied(false); applied != "" {
			w.Header().Set("Preference-Applied", applied)
		}
		result, cached = job.Result, found.wasCached
	}
	body, err := finish(result, cached, failed)
	if err != nil {
		return err
	}
	of := reading{request.Hash(body), wanted.Kind, r.View, r.Fields.Asked()}
	viewed, err := k.options.Limits.Compute(r, of, func() ([]byte, error) { return r.Fields.Of(body, r.View), nil })
	if err != nil {
		return err
	}
	request.WriteBytes(w, http.StatusOK, viewed)
	return nil
}

// reading names a result as a caller reads it.
type reading struct {
	Result string // hash
	Kind   string // of job, whose usual members these are
	View   message.View
	Fields string
}

// Outcome is what responds to a request: a cached result, or the job that computes
// it. The zero value is no outcome.
type Outcome struct {
	Result []byte
	Job    *jobs.Job

	key       cache.Key  // where the result is
	view      terms.View // of the request
	replayed  bool       // it is stored under the Idempotency-Key
	wasCached bool       // the result of the job
}

func (o Outcome) isEmpty() bool { return o.Result == nil && o.Job == nil }

// ViewOf returns how a request reads the result of a job of a kind.
func ViewOf(r *request.Request, kind string) terms.View {
	v := terms.View{View: r.View, Fields: r.Fields, Tags: r.Tags}
	if kind == tasks.KindEstimate || kind == tasks.KindQuote { // a comparison is made on its terms
		v.Terms = r.Terms
	}
	v.Explain = r.Explain && kind == tasks.KindEstimate
	return v
}

// Outcome finds the outcome of a request, or submits its job. It is stored under the
// Idempotency-Key, and announced to webhooks when it was known before.
func (k *Work) Outcome(w http.ResponseWriter, r *request.Request, wanted Wanted) (found Outcome, err error) {
	if err := k.CheckWebhook(r); err != nil {
		return found, err
	}
	same, err := k.Begin(w, r, wanted.Identity)
	if err != nil {
		return found, err
	}
	if found, err = k.known(r.Context(), same, wanted); err != nil {
		return found, err
	}
	same.SetReplayed(w, found.replayed)
	if found.isEmpty() {
		if found.Job, err = k.Submit(w, r, jobs.Interactive, wanted); err != nil {
			return found, err
		}
	}
	found.view = ViewOf(r, wanted.Kind)
	if found, err = k.announced(w, r, wanted, found); err != nil || same == nil || found.replayed {
		return found, err
	}
	// What is stored names the result or the job, and has a hundred bytes. When the same
	// request was sent twice at once, the outcome that was stored first responds.
	what, value := "cached", string(found.key)
	if found.Job != nil {
		what, value = "job", found.Job.ID
	}
	stored, err := same.setOutcome(r.Context(), what, value, same.stored.outcome)
	if err != nil || stored == value {
		return found, err
	}
	first, err := k.stored(r.Context(), same)
	if first.isEmpty() {
		return found, err
	}
	first.view = found.view
	return first, err
}

// known returns the outcome of a request that is known without more work: the stored one of
// the same request, else a cached result. It is empty when there is none.
func (k *Work) known(ctx context.Context, same *Idempotent, wanted Wanted) (found Outcome, err error) {
	found, err = k.stored(ctx, same)
	if err == nil && found.isEmpty() && wanted.Key != "" {
		found, err = k.cached(ctx, wanted.Key)
	}
	if err == nil && found.Result != nil && wanted.Known != nil {
		found.Result, err = wanted.Known(ctx, found.Result)
	}
	return found, err
}

// cached returns a cached result as an outcome; it is empty when there is none.
func (k *Work) cached(ctx context.Context, key cache.Key) (Outcome, error) {
	result, err := k.CachedResult(ctx, key)
	if result == nil {
		return Outcome{}, err
	}
	return Outcome{Result: result, key: key}, nil
}

// CachedResult returns a cached result; nil when there is none.
func (k *Work) CachedResult(ctx context.Context, key cache.Key) ([]byte, error) {
	cached, err := k.options.Cache.Get(ctx, key)
	if errors.Is(err, cache.ErrMiss) {
		return nil, nil
	}
	return cached, err
}

// stored loads the outcome that the same request had before under its Idempotency-Key. It
// is empty when there is none, when its result or its job has expired, and when its job failed
// in a way that may pass: the work is done again.
func (k *Work) stored(ctx context.Context, same *Idempotent) (Outcome, error) {
	if key, ok := same.Outcome("cached"); ok {
		found, err := k.cached(ctx, cache.Key(key))
		found.replayed = !found.isEmpty()
		return found, err
	}
	id, ok := same.Outcome("job")
	if !ok {
		return Outcome{}, nil
	}
	job, err := k.Job(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return Outcome{}, nil
	}
	if err == nil && job.State == jobs.Failed && ProblemOf(job).Retryable() {
		return Outcome{}, nil
	}
	return Outcome{Job: job, replayed: true}, err
}

// Job reads a job's record.
func (k *Work) Job(ctx context.Context, id string) (*jobs.Job, error) {
	return k.options.Tasks.Job(ctx, id)
}

// Submit gives the work that a request wants to the engine within the limits of the caller's key,
// with what the caller sent for it, if anything, and returns its job: a new one, or the
// running one of the same kind and input. A person is told at once that a site pauses.
func (k *Work) Submit(w http.ResponseWriter, r *request.Request, class jobs.Class, wanted Wanted) (*jobs.Job, error) {
	if err := k.options.Limits.CheckRate(w, r); err != nil {
		return nil, err
	}
	if input, ok := wanted.Input.(tasks.EstimateInput); ok && input.Page == "" {
		if err := k.checkPause(r.Context(), input.URL); err != nil {
			return nil, err
		}
	}
	dedupKey, err := tasks.DedupKey(wanted.Kind, wanted.Input)
	if err != nil {
		return nil, err
	}
	demand := Demand{Job: true, Keep: keptFor(wanted.Kind, dedupKey, wanted.Attachment)}
	if err := k.options.Limits.Take(w, r, demand); err != nil {
		return nil, err
	}
	by := tasks.Requester{
		Owner: r.Key.ID, Class: class, Query: ViewOf(r, wanted.Kind).Query(), Attachment: wanted.Attachment, Origin: r.Origin(),
	}
	job, err := k.options.Tasks.Submit(r.Context(), wanted.Kind, wanted.Input, by)
	if tracked := k.options.Limits.Track(r, job); err == nil {
		err = tracked
	}
	switch {
	case job == nil:
		err = errors.Join(err, k.giveBackUnmade(r, dedupKey, demand.Keep))
	case err == nil && by.Attachment != nil && (job.Caller() != r.Caller() || job.State.Ended()): // that job does not need it
		err = k.options.Limits.GiveBack(r, demand.Keep[1])
	}
	if err != nil {
		return nil, request.ErrUnavailable.WithCause(err)
	}
	if job.ID == wanted.Failed {
		return nil, ProblemOf(job)
	}
	return job, nil
}

// giveBackUnmade gives back what was kept for a job that Redis does not have. When it does not tell,
// the job may be there although the answer was lost: what it takes is kept until it expires.
func (k *Work) giveBackUnmade(r *request.Request, dedupKey string, kept []pace.Kept) error {
	running, err := k.options.Jobs.AreRunning(context.WithoutCancel(r.Context()), []string{dedupKey})
	if err != nil || running[0] {
		return nil //nolint:nilerr // the error of the request is told
	}
	return k.options.Limits.GiveBack(r, kept...)
}

// recordTTL is how long the record of a job is kept at most.
const recordTTL = 25 * time.Hour

// keptFor returns what a job of a kind causes to be kept before it has a result: its
// record, and those of the jobs that it needs; what the caller sent.
func keptFor(kind, dedupKey string, attachment []byte) []pace.Kept {
	records := int64(1)
	if kind == tasks.KindCompare {
		records = 5 // two estimates and two reports
	}
	kept := []pace.Kept{{Size: records * jobs.RecordBytes, TTL: recordTTL}}
	if attachment != nil {
		name := jobs.AttachmentName(dedupKey)
		kept = append(kept, pace.Kept{Name: name, Size: int64(len(attachment)) + pace.EntryOverhead, TTL: jobs.AttachmentTTL})
	}
	return kept
}

// CheckWebhook refuses a request that names a webhook which its key does not have.
func (k *Work) CheckWebhook(r *request.Request) error {
	if r.Tags.Webhook == "" {
		return nil
	}
	switch _, err := k.options.Webhooks.Get(r.Context(), r.Key.ID, r.Tags.Webhook); {
	case errors.Is(err, webhook.ErrNotFound):
		return problem.Field("webhook", "webhook").WithCause(err)
	default:
		return err
	}
}

// announced returns the outcome of a request as that of a job, when the caller prefers
// respond-async and has a webhook for the ends of jobs: an outcome that was known before is
// announced as one that had to wait. The response names the job as the event does.
func (k *Work) announced(w http.ResponseWriter, r *request.Request, wanted Wanted, found Outcome) (Outcome, error) {
	isKnown := found.Result != nil || found.Job != nil && found.Job.State.Ended()
	if !isKnown || found.replayed || !r.Prefer.Async {
		return found, nil
	}
	ctx := r.Context()
	hooks, err := k.options.Webhooks.List(ctx, r.Key.ID)
	if err != nil {
		return found, err
	}
	if !slices.ContainsFunc(hooks, func(e webhook.Endpoint) bool {
		return e.Disabled == "" && (e.ID == r.Tags.Webhook || slices.Contains(e.Events, webhook.JobCompleted))
	}) {
		return found, nil
	}
	requester := tasks.Requester{Owner: r.Key.ID, Class: jobs.Interactive, Query: found.view.Query()}
	if found.Job != nil {
		err = k.options.Tasks.NotifyRequester(ctx, found.Job, requester)
	} else {
		record := Demand{Keep: []pace.Kept{{Size: jobs.RecordBytes, TTL: recordTTL}}}
		if err := k.options.Limits.Take(w, r, record); err != nil {
			return found, err
		}
		found.Job, err = k.options.Tasks.SubmitResult(ctx, wanted.Kind, wanted.Input, requester, found.Result)
		found.Result, found.wasCached = nil, true
	}
	if err != nil {
		return found, request.ErrUnavailable.WithCause(err)
	}
	if found.Job.State.Ended() {
		w.Header().Set("Location", found.view.At(Path(found.Job.ID)))
	}
	return found, nil
}
