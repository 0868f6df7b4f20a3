// Package await gives the work of requests to the task engine within the limits of their
// callers, waits for it, and says what it waits for. The outcome of a request is a job or a
// result that was known before.
package await

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

const (
	// maxIdempotencyKey is the maximum length of a key in bytes.
	maxIdempotencyKey = 255
	// requestTTL is how long a request is recorded, and requestBytes what its record takes in
	// Redis.
	requestTTL   = 24 * time.Hour
	requestBytes = 2*pace.EntryOverhead + 150
)

var (
	errKeyInvalid = problem.BadRequest("idempotency_key_invalid").Of("Idempotency-Key")
	errReused     = problem.New(http.StatusUnprocessableEntity, "idempotency_key_reused", nil)
)

// Idempotent is a request that carries an Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header): a caller who got no response sends the same
// request again, its work is done once, and it has the outcome of the first. Its record is a hash
// of body (a digest) and outcome in Redis. Nil carries no key, and all methods accept it.
//
// A request is recorded before its work begins, and its outcome as soon as that has a name.
// A process that dies in between leaves a record without an outcome, and the next request
// goes on as the first. The work must therefore bear to be begun twice; the outcome that was
// set first is that of all.
type Idempotent struct {
	redis   redis.UniversalClient
	record  string // its key in Redis
	outcome string // "" until one is set
}

// WithIdempotencyKey is the middleware of endpoints that accept an Idempotency-Key. It
// rejects an invalid key. The handler says by Begin which request it is, once it has decoded
// it.
func WithIdempotencyKey(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		if request.From(r).IdempotencyKey, err = idempotencyKey(r.Header); err != nil {
			return err
		}
		return next(w, r)
	}
}

// idempotencyKey returns the key of a request; it is empty when there is none.
// The IETF draft requires double quotes around the key; many clients omit
// them, so both are accepted.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if inner, quoted := strings.CutPrefix(key, `"`); quoted {
		var closed bool
		if key, closed = strings.CutSuffix(inner, `"`); !closed {
			return "", errKeyInvalid
		}
	}
	unprintable := strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || unprintable {
		return "", errKeyInvalid
	}
	return key, nil
}

// scriptBegin records a request. ARGV: digest of its identity, TTL in ms.
// Returns the outcome, "" for none yet, false when the record is of a
// different request.
var scriptBegin = redis.NewScript(`
if redis.call('HSETNX', KEYS[1], 'body', ARGV[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return ''
end
if redis.call('HGET', KEYS[1], 'body') ~= ARGV[1] then return false end
return redis.call('HGET', KEYS[1], 'outcome') or ''
`)

// Begin records a request under its Idempotency-Key before the work begins, or finds the record
// of an earlier one. Two requests are the same when their identities are equal as JSON. A new
// record counts against the limits, also when a cached result responds. Begin returns nil when
// the request carries no key.
func (k *Work) Begin(w http.ResponseWriter, r *request.Request, identity any) (*Idempotent, error) {
	if r.IdempotencyKey == "" {
		return nil, nil //nolint:nilnil // nil is a request without a key
	}
	body, err := json.Marshal(identity)
	if err != nil {
		return nil, fmt.Errorf("await: identity of a request: %w", err)
	}
	name, digest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Key.ID, r.URL.Path, r.IdempotencyKey)), sha256.Sum256(body)
	same := &Idempotent{redis: k.options.Redis, record: "idempotency:" + hex.EncodeToString(name[:16])}
	ctx := r.Context()
	recorded, err := same.redis.Exists(ctx, same.record).Result()
	if err != nil {
		return nil, fmt.Errorf("await: begin: %w", err)
	}
	kept := pace.Kept{Size: requestBytes, TTL: requestTTL}
	if recorded == 0 {
		if err := k.options.Limits.Take(w, r, kept); err != nil {
			return nil, err
		}
	}
	same.outcome, err = scriptBegin.Run(ctx, same.redis, []string{same.record},
		hex.EncodeToString(digest[:16]), requestTTL.Milliseconds()).Text()
	switch {
	case err == nil:
		same.SetReplayed(w, same.outcome != "")
		return same, nil
	case errors.Is(err, redis.Nil):
		err = errReused
	default:
		err = fmt.Errorf("await: begin: %w", err)
	}
	if recorded == 0 {
		err = errors.Join(err, k.options.Limits.GiveBack(r, kept))
	}
	return nil, err
}

// replayedHeader says that a response is that of an earlier request with the same
// Idempotency-Key.
const replayedHeader = "Idempotency-Replayed"

// SetReplayed says whether the request was carried out before.
func (same *Idempotent) SetReplayed(w http.ResponseWriter, replayed bool) {
	switch {
	case same == nil:
	case replayed:
		w.Header().Set(replayedHeader, "true")
	default:
		w.Header().Del(replayedHeader)
	}
}

// Outcome returns the stored outcome of the request, if it is of a kind, such
// as "job".
func (same *Idempotent) Outcome(kind string) (string, bool) {
	if same == nil {
		return "", false
	}
	return strings.CutPrefix(same.outcome, kind+":")
}

// scriptSetOutcome sets the outcome if there is none, or in place of another, and returns the
// one that is set. ARGV: outcome, the other. When the record has expired that is the given one.
var scriptSetOutcome = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return ARGV[1] end
if redis.call('HGET', KEYS[1], 'outcome') == ARGV[2] then redis.call('HDEL', KEYS[1], 'outcome') end
redis.call('HSETNX', KEYS[1], 'outcome', ARGV[1])
return redis.call('HGET', KEYS[1], 'outcome')
`)

// SetOutcome stores the outcome of the request, unless it has one already, and
// returns the stored outcome; an empty string when that is of another kind.
func (same *Idempotent) SetOutcome(ctx context.Context, kind, value string) (string, error) {
	return same.replaceOutcome(ctx, kind, value, "")
}

// replaceOutcome is SetOutcome in place of an outcome that is over: "" for none.
func (same *Idempotent) replaceOutcome(ctx context.Context, kind, value, over string) (string, error) {
	if same == nil {
		return value, nil
	}
	set, err := scriptSetOutcome.Run(ctx, same.redis, []string{same.record}, kind+":"+value, over).Text()
	if err != nil {
		return "", fmt.Errorf("await: set outcome: %w", err)
	}
	same.outcome = set
	if value, ok := same.Outcome(kind); ok {
		return value, nil
	}
	return "", nil
}

// IsDone reports whether the request has been carried out before.
func (same *Idempotent) IsDone() bool {
	_, done := same.Outcome("done")
	return done
}

// SetDone stores that the request has been carried out.
func (same *Idempotent) SetDone(ctx context.Context) error {
	_, err := same.SetOutcome(ctx, "done", "")
	return err
}
