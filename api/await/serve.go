// Package await gives the work of requests to the task engine, waits for it, and says what
// it waits for. The outcome of a request is a job or a result that was known before.
package await

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/limits"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	ErrJobNotFound = problem.NotFound("job_not_found")
	errCancelled   = problem.Conflict("cancelled")
	errNotFinished = problem.New(http.StatusGatewayTimeout, "not_finished", nil).After(respond.PollAfter)
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
	Idempotency *idempotency.Store
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
	// Submit submits the job; nil is Work.Submit with the kind, the input and the
	// attachment.
	Submit func(w http.ResponseWriter, r *request.Request) (*jobs.Job, error)
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
	result, err := k.result(w, r, found)
	if errors.Is(err, respond.ErrResponded) {
		return err
	}
	body, err := finish(result, found.Job == nil || found.wasCached, err)
	if err != nil {
		return err
	}
	respond.Bytes(w, http.StatusOK, body)
	return nil
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
// Idempotency-Key, and announced to webhooks when it was known before.
func (k *Work) Outcome(w http.ResponseWriter, r *request.Request, wanted Wanted) (found Outcome, err error) {
	same, err := k.Begin(w, r, wanted.Identity)
	if err != nil {
		return found, err
	}
	if found, err = k.stored(r.Context(), same); err != nil {
		return found, err
	}
	same.SetReplayed(w, !found.isEmpty())
	if found.isEmpty() && wanted.Key != "" {
		if found, err = k.cached(r.Context(), wanted.Key); err != nil {
			return found, err
		}
	}
	if found.Result != nil && wanted.Known != nil {
		if found.Result, err = wanted.Known(r.Context(), found.Result); err != nil {
			return found, err
		}
	}
	if found.isEmpty() {
		if found.Job, err = k.submitWanted(w, r, wanted); err != nil {
			return found, err
		}
	}
	if found, err = k.announced(w, r, wanted, found); err != nil {
		return found, err
	}
	return k.store(r.Context(), same, found)
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
func (k *Work) CachedResult(parent context.Context, key cache.Key) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	cached, err := k.options.Cache.Get(ctx, key)
	switch {
	case errors.Is(err, cache.ErrMiss):
		return nil, nil
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return cached, nil
}

// stored loads the outcome that the same request had before under its Idempotency-Key. It
// is empty when there is none, or when its result or its job has expired, so that the work
// is done again.
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
	if errors.Is(err, ErrJobNotFound) {
		return Outcome{}, nil
	}
	return Outcome{Job: job, replayed: true}, err
}

// store stores the outcome of a request under its Idempotency-Key, and returns the one to
// respond with: when the same request was sent twice at once, the outcome that was stored
// first. What is stored names the result or the job, and has a hundred bytes.
func (k *Work) store(ctx context.Context, same *Idempotent, found Outcome) (Outcome, error) {
	if same == nil || found.replayed {
		return found, nil
	}
	what, value := "cached", string(found.key)
	if found.Job != nil {
		what, value = "job", found.Job.ID
	}
	stored, err := same.SetOutcome(ctx, what, value)
	if err != nil || stored == value {
		return found, err
	}
	first, err := k.stored(ctx, same)
	if first.isEmpty() {
		return found, err
	}
	return first, err
}

// submitWanted submits the job of a request.
func (k *Work) submitWanted(w http.ResponseWriter, r *request.Request, wanted Wanted) (*jobs.Job, error) {
	if wanted.Submit != nil {
		return wanted.Submit(w, r)
	}
	return k.Submit(w, r, jobs.Interactive, wanted)
}

// Submit gives the work that a request wants to the engine within the limits of the caller's key,
// with what the caller sent for it, if anything, and returns its job: a new one, or the
// running one of the same kind and input.
func (k *Work) Submit(w http.ResponseWriter, r *request.Request, class jobs.Class, wanted Wanted) (*jobs.Job, error) {
	if err := k.options.Limits.CheckJobs(w, r); err != nil {
		return nil, err
	}
	dedupKey, err := tasks.DedupKey(wanted.Kind, wanted.Input)
	if err != nil {
		return nil, err
	}
	if err := k.options.Limits.Keep(w, r, keptFor(wanted.Kind, dedupKey, wanted.Attachment)...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	owner, attachment := r.Key.ID, wanted.Attachment
	requester := tasks.Requester{
		Owner: owner, Class: class, Query: ViewOf(r, wanted.Kind).Query(), Attachment: attachment, Origin: r.Origin(),
	}
	job, err := k.options.Tasks.Submit(ctx, wanted.Kind, wanted.Input, requester)
	if err == nil && attachment != nil && (job.Owner != owner || job.State.Ended()) { // that job does not need it
		err = k.options.Limits.Forget(ctx, owner, jobs.AttachmentName(dedupKey))
	}
	if err != nil {
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return job, nil
}

// recordTTL is how long the record of a job is kept at most.
const recordTTL = 25 * time.Hour

// keptFor returns what a job of a kind causes to be kept before it has a result: its
// record, and those of the jobs that it needs; what the caller sent.
func keptFor(kind, dedupKey string, attachment []byte) []quota.Kept {
	records := int64(1)
	if kind == tasks.KindCompare {
		records = 5 // two estimates and two reports
	}
	kept := []quota.Kept{{Size: records * jobs.RecordBytes, TTL: recordTTL}}
	if attachment != nil {
		name := jobs.AttachmentName(dedupKey)
		kept = append(kept, quota.Kept{Name: name, Size: int64(len(attachment)) + quota.EntryOverhead, TTL: jobs.AttachmentTTL})
	}
	return kept
}

// announced returns the outcome of a request as that of a job, when the caller prefers
// respond-async and has a webhook for the ends of jobs: an outcome that was known before is
// announced as one that had to wait. The response names the job as the event does.
func (k *Work) announced(w http.ResponseWriter, r *request.Request, wanted Wanted, found Outcome) (Outcome, error) {
	isKnown := found.Result != nil || found.Job != nil && found.Job.State.Ended()
	if !isKnown || found.replayed || !PreferenceOf(r.Header, k.options.WaitMax).async {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	hooks, err := k.options.Webhooks.List(ctx, r.Key.ID)
	if err != nil {
		return found, respond.ErrUnavailable.WithCause(err)
	}
	if !slices.ContainsFunc(hooks, func(e webhook.Endpoint) bool {
		return e.Disabled == "" && slices.Contains(e.Events, webhook.JobCompleted)
	}) {
		return found, nil
	}
	view := ViewOf(r, wanted.Kind)
	requester := tasks.Requester{Owner: r.Key.ID, Class: jobs.Interactive, Query: view.Query()}
	if found.Job != nil {
		err = k.options.Tasks.NotifyRequester(ctx, found.Job, requester)
	} else {
		if err := k.options.Limits.CheckRate(w, r); err != nil {
			return found, err
		}
		if err := k.options.Limits.Keep(w, r, quota.Kept{Size: jobs.RecordBytes, TTL: recordTTL}); err != nil {
			return found, err
		}
		found.Job, err = k.options.Tasks.SubmitResult(ctx, wanted.Kind, wanted.Input, requester, found.Result)
		found.Result, found.wasCached = nil, true
	}
	if err != nil {
		return found, respond.ErrUnavailable.WithCause(err)
	}
	if found.Job.State.Ended() {
		w.Header().Set("Location", view.At(Path(found.Job.ID)))
	}
	return found, nil
}

// result returns the result of an outcome. For a job it waits as long
// as the caller prefers. When the job has not ended by then, its URL is the
// response: 202 (respond.ErrResponded) to a caller who accepts that, else 504.
func (k *Work) result(w http.ResponseWriter, r *request.Request, found Outcome) ([]byte, error) {
	r.Place.Leave() // the body is not needed while the request waits
	if found.Job == nil {
		return found.Result, nil
	}
	job := found.Job
	r.Job = job.ID
	err := k.options.Limits.Track(r, job)
	if err != nil {
		return nil, err
	}
	prefer := PreferenceOf(r.Header, k.options.WaitMax)
	if !job.State.Ended() {
		job, err = k.WaitUnlessHindered(r, job.ID, prefer.waitTimeout())
	}
	if IsUnfinished(err) {
		job, err = k.unfinished(w, r, found.Job, prefer, err)
	}
	if err != nil {
		return nil, err
	}
	if applied := prefer.applied(false); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	if job.State != jobs.Succeeded {
		return nil, ProblemOf(job)
	}
	return job.Result, nil
}

// WaitUnlessHindered returns a job once it has ended, or errNotFinished after the timeout.
// It ends early, with the reason, when the job waits for something that it cannot have
// now: waiting longer is useless to the caller, and the job continues.
func (k *Work) WaitUnlessHindered(r *request.Request, id string, timeout time.Duration) (*jobs.Job, error) {
	release, ok := k.waiters.Acquire(r.Key.ID, maxWaiters)
	if !ok {
		return nil, errNotFinished
	}
	defer release()
	for end := time.Now().Add(timeout); ; {
		job, err := k.Wait(r.Context(), id, min(hindranceInterval, time.Until(end)))
		if !errors.Is(err, errNotFinished) || k.options.Draining.Err() != nil {
			return job, err
		}
		if hindered := k.hindered(r.Context(), id); hindered != nil {
			return nil, hindered
		}
		if !time.Now().Before(end) {
			return nil, errNotFinished
		}
	}
}

// Wait returns a job once it has ended, or errNotFinished after the timeout. A
// caller who disconnects, or a server that shuts down, ends the wait but not
// the job.
func (k *Work) Wait(parent context.Context, id string, timeout time.Duration) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	defer context.AfterFunc(k.options.Draining, cancel)() //nolint:contextcheck // the life of the server ends the wait too
	job, err := k.options.Hub.Wait(ctx, id)
	switch {
	case err == nil:
		return job, nil
	case errors.Is(err, jobs.ErrNotFound):
		return nil, ErrJobNotFound
	case parent.Err() != nil:
		return nil, respond.ErrClientClosedRequest.WithCause(err)
	case ctx.Err() != nil:
		return nil, errNotFinished
	}
	return nil, respond.ErrUnavailable.WithCause(err)
}

// unfinished responds to a caller whose wait is over before the job is: with 202 to one
// who accepts that (respond.ErrResponded), else with the problem. It returns the job when it has
// ended in between.
func (k *Work) unfinished(
	w http.ResponseWriter, r *request.Request, job *jobs.Job, prefer Preference, why error,
) (*jobs.Job, error) {
	if now, err := k.Job(r.Context(), job.ID); err == nil { // else it is as it was
		job = now
	}
	if job.State.Ended() {
		return job, nil
	}
	if prefer.accepts() {
		if err := k.Confirm(r.Context()); err != nil {
			return nil, err
		}
		return nil, k.writeAccepted(w, r, job, prefer)
	}
	p, ok := errors.AsType[*problem.Problem](why)
	if !ok {
		p = errNotFinished
	}
	if p.WaitingFor == "" {
		p = p.Waiting(k.waitsFor(r.Context(), job))
	}
	p = p.At(ViewOf(r, job.Kind).At(Path(job.ID)))
	p.Job = job.ID
	return nil, p
}

// writeAccepted answers 202: the work continues, and this is its job. It
// returns respond.ErrResponded.
func (k *Work) writeAccepted(w http.ResponseWriter, r *request.Request, job *jobs.Job, prefer Preference) error {
	view := ViewOf(r, job.Kind)
	w.Header().Set("Preference-Applied", prefer.applied(true))
	w.Header().Set("Location", view.At(Path(job.ID)))
	w.Header().Set("Retry-After", respond.Seconds(respond.PollAfter))
	body := k.Body(r.Context(), job)
	body.Link(view)
	body.Warnings = r.Warnings()
	if err := respond.JSON(w, http.StatusAccepted, body); err != nil {
		return err
	}
	return respond.ErrResponded
}

// Confirm makes sure that what a response acknowledges, with 202 or 201, outlives the
// death of a Redis master, when the operator demands that. The work goes on even if it
// does not; the caller is answered 503 and sends the request again.
func (k *Work) Confirm(parent context.Context) error {
	if k.options.Confirm == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	if err := k.options.Confirm(ctx); err != nil {
		return respond.ErrUnavailable.WithCause(err)
	}
	return nil
}

// Job reads a job's record.
func (k *Work) Job(parent context.Context, id string) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	job, err := k.options.Jobs.Get(ctx, id)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return nil, ErrJobNotFound
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	return job, nil
}
