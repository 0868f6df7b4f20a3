package await

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/tasks"
)

// Why a request is refused. Each is named by its code.
var (
	errRateLimited       = problem.New(http.StatusTooManyRequests, "rate_limited", nil)
	errTooManyUploads    = problem.New(http.StatusTooManyRequests, "too_many_uploads", nil).After(request.PollAfter)
	errTooManyExports    = problem.New(http.StatusTooManyRequests, "too_many_exports", nil).After(request.PollAfter)
	errTooManyBytes      = problem.New(http.StatusTooManyRequests, "too_many_bytes", nil)
	errTooLargeForKey    = problem.New(http.StatusRequestEntityTooLarge, "too_many_bytes.once", nil)
	errTooManyBatchItems = problem.New(http.StatusTooManyRequests, "too_many_batch_items", nil).After(time.Minute)
	errBatchTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
	errTooManyJobs       = problem.New(http.StatusTooManyRequests, "too_many_jobs", nil).After(request.PollAfter)
)

// LimitOptions are the parts and settings of Limits.
type LimitOptions struct {
	Rates *pace.Rates
	// Processor is the time of the processors of this process.
	Processor *pace.Processor
	Bytes     *pace.Accounts // that are kept
	Rows      *pace.Accounts // that are reserved
	Jobs      *jobs.Store
	Batches   *batch.Store
	// AIUsage returns how many tokens of the AI a key has used today, and when the day
	// ends. Nil knows of none.
	AIUsage func(ctx context.Context, key string) (used int64, resets time.Time, err error)
	// Limits apply to keys without limits of their own. 0 means no limit.
	Limits pace.Limits
	// WaitMax is the longest time that a request waits for a result.
	WaitMax time.Duration
}

// Limits hold callers to the limits of their keys: requests a minute, running jobs, rows of
// batches, bytes that are stored, tokens of the AI, and the places of one process for what
// needs much memory or a processor for long.
type Limits struct {
	options  LimitOptions
	bodies   *pace.Places // for large ones
	exports  *pace.Places
	computed *lru.Cache[string, computed]
}

// NewLimits returns the limits of one API process.
func NewLimits(options LimitOptions) *Limits {
	l := &Limits{options: options, bodies: pace.NewPlaces(maxLargeBodies), exports: pace.NewPlaces(maxExports)}
	l.computed, _ = lru.New[string, computed](maxRemembered) // the only error is a size below one
	return l
}

// of returns the limits of the caller's key.
func (l *Limits) of(r *request.Request) pace.Limits {
	return r.Key.Limits.Or(l.options.Limits)
}

// RateLimited is the middleware of endpoints whose every request counts
// against the rate of its key. Where a cached result responds, the handler
// calls Take instead, because such a request does not count.
func (l *Limits) RateLimited(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := l.CheckRate(w, request.From(r)); err != nil {
			return err
		}
		return next(w, r)
	}
}

// CheckRate counts a request, once, unless its key has exceeded its requests per
// minute. It sets the RateLimit headers.
func (l *Limits) CheckRate(w http.ResponseWriter, r *request.Request) error {
	perMinute := l.of(r).PerMinute
	if perMinute <= 0 || r.Counted {
		return nil
	}
	allowance, err := l.options.Rates.Take(r.Context(), pace.PerMinute(r.Caller(), perMinute))
	if err != nil {
		return err
	}
	r.Counted = true
	pace.Policy{Name: "minute", Quota: perMinute, Window: time.Minute}.SetHeaders(w.Header(), allowance)
	if !allowance.Allowed {
		return errRateLimited.After(max(request.WholeSeconds(allowance.RetryAfter), time.Second))
	}
	return nil
}

// Take counts a request, and bytes that are stored for it, unless its key would exceed one of its
// limits. It sets the headers RateLimit and Key-Bytes.
func (l *Limits) Take(w http.ResponseWriter, r *request.Request, things ...pace.Kept) error {
	account, ok, err := l.take(w, r, things)
	if err != nil || ok {
		return err
	}
	return tooManyBytes(account, total(things))
}

// take is Take, and returns the account of a key that would have more bytes than it may.
func (l *Limits) take(w http.ResponseWriter, r *request.Request, things []pace.Kept) (account pace.Account, ok bool, err error) {
	if err := l.CheckRate(w, r); err != nil {
		return account, false, err
	}
	if account, ok, err = l.options.Bytes.Take(r.Context(), r.Caller(), l.of(r).Bytes, things...); err == nil {
		w.Header().Set("Key-Bytes", account.Header())
	}
	return account, ok, err
}

// Submit gives the work that a request wants to the engine within the limits of the caller's key,
// with what the caller sent for it, if anything, and returns its job: a new one, or the
// running one of the same kind and input. A person is told at once that a site pauses.
func (k *Work) Submit(w http.ResponseWriter, r *request.Request, class jobs.Class, wanted Wanted) (job *jobs.Job, err error) {
	ctx := r.Context()
	if err := k.options.Limits.CheckRate(w, r); err != nil {
		return nil, err
	}
	if class == jobs.Interactive {
		k.options.Limits.PersonGoesOn()
	}
	if input, ok := wanted.Input.(tasks.EstimateInput); ok && input.Page == "" && wanted.result == nil {
		if err := k.checkPause(ctx, input.URL); err != nil {
			return nil, err
		}
	}
	taken, refused := k.options.Limits.takeJob(w, r, wanted)
	by := tasks.Requester{
		Owner: r.Key.ID, Class: class, Query: r.QueryString(), Attachment: wanted.Attachment, Origin: r.Origin(),
	}
	switch {
	case refused != nil:
	case wanted.result != nil:
		job, err = k.options.Tasks.SubmitResult(ctx, wanted.Kind, taken.input, by, wanted.result)
	default:
		job, err = k.options.Tasks.Submit(ctx, wanted.Kind, taken.input, by)
	}
	err = errors.Join(err, k.options.Limits.settle(r, taken, job))
	switch {
	case refused != nil:
		return nil, errors.Join(refused, err)
	case err != nil:
		return nil, request.ErrUnavailable.WithCause(err)
	case job.ID == wanted.Failed:
		return nil, ProblemOf(job)
	}
	return job, nil
}

// checkPause tells a person at once that the site of a listing has asked all
// workers to pause, and until when. A job would wait for that, or end with the
// same error.
func (k *Work) checkPause(ctx context.Context, listing string) error {
	page, err := url.Parse(listing)
	if err != nil {
		return nil //nolint:nilerr // the job says what is wrong with it
	}
	paces, err := fetch.PacesOf(ctx, k.options.Redis, page.Host)
	if err != nil {
		return err
	}
	if paused := tasks.SitePaused(paces[page.Host].Pause, tasks.OfferPage, nil); paused != nil {
		return ErrorProblem(tasks.JobError(paused))
	}
	return nil
}

// takenJob is what a request has taken of the limits of its key for a job that it submits.
type takenJob struct {
	input    json.RawMessage // of the job; canonical
	dedupKey string
	place    string      // of a running job; "" when the key may have any number, and for a job that has ended
	kept     []pace.Kept // the record, and what the caller sent for the job, if anything
}

// recordTTL is how long the record of a job is kept at most.
const recordTTL = 25 * time.Hour

// takeJob takes what a job needs, before it has a result, of the limits of the key: a place among
// those that run, and the bytes of its record, of the records of the jobs that it needs, and of
// what the caller sent. What is taken when it fails is to be settled too.
func (l *Limits) takeJob(w http.ResponseWriter, r *request.Request, wanted Wanted) (taken takenJob, err error) {
	ctx, of, isNew := r.Context(), l.of(r), wanted.result == nil
	if taken.input, err = plainjson.Encode(wanted.Input); err != nil {
		return taken, err
	}
	taken.dedupKey = jobs.DedupKey(wanted.Kind, taken.input)
	if isNew && of.Jobs > 0 {
		taken.place, err = l.options.Jobs.Reserve(ctx, r.Holder(), of.Jobs)
		switch {
		case err != nil:
			return taken, err
		case taken.place == "":
			return taken, errTooManyJobs
		}
	}
	kept := []pace.Kept{{Size: jobs.RecordBytes, TTL: recordTTL}}
	if isNew && wanted.Kind == tasks.KindCompare {
		kept[0].Size *= 5 // two estimates and two reports
	}
	if isNew && wanted.Attachment != nil {
		size := int64(len(wanted.Attachment)) + pace.EntryOverhead
		kept = append(kept, pace.Kept{Name: jobs.AttachmentName(taken.dedupKey), Size: size, TTL: jobs.AttachmentTTL})
	}
	account, ok, err := l.options.Bytes.Take(ctx, r.Caller(), of.Bytes, kept...)
	if err != nil {
		return taken, err
	}
	w.Header().Set("Key-Bytes", account.Header())
	if !ok {
		return taken, tooManyBytes(account, total(kept))
	}
	taken.kept = kept
	return taken, nil
}

// settle counts the job for which a request has taken, and gives back what the job does not need,
// also when the client has gone away. Without a job all is given back, unless Redis has the job
// and its answer was lost.
func (l *Limits) settle(r *request.Request, taken takenJob, job *jobs.Job) (err error) {
	ctx := context.WithoutCancel(r.Context())
	running, back := "", []pace.Kept(nil)
	switch {
	case len(taken.kept) == 0: // the limits have refused the job
	case job == nil:
		if isRunning, err := l.options.Jobs.AreRunning(ctx, []string{taken.dedupKey}); err == nil && !isRunning[0] {
			back = taken.kept // else it is kept until it expires
		}
	case job.State.Ended() || job.Caller() != r.Caller():
		back = taken.kept[1:] // what was sent is not needed by a job that another has begun, or that has ended
	}
	if job != nil && !job.State.Ended() {
		running = job.ID
	}
	if len(back) > 0 {
		err = l.GiveBack(r, back...)
	}
	return errors.Join(err, l.options.Jobs.Track(ctx, r.Holder(), taken.place, running))
}

// GiveBack ends the count of what was taken and is not kept, also when the client has gone away.
func (l *Limits) GiveBack(r *request.Request, things ...pace.Kept) error {
	back := slices.Clone(things)
	for i := range back {
		back[i].Size = -back[i].Size
	}
	_, err := l.options.Bytes.Settle(context.WithoutCancel(r.Context()), pace.Holder{Whole: r.Caller()}, back...)
	return err
}

// rowsReservedFor is how long rows are reserved for a batch that is about to be created. Those
// of a process that was killed are free afterwards.
const rowsReservedFor = 15 * time.Second

// TakeRows counts a request, rows of a batch that are about to run and the bytes that are stored
// for them, unless its key would exceed one of its limits. It sets the headers RateLimit and
// Key-Bytes. Leave ends the reservation of the rows: their batch counts them then, or there is none.
func (l *Limits) TakeRows(w http.ResponseWriter, r *request.Request, rows int, things ...pace.Kept) (leave func(), err error) {
	if err := l.CheckRate(w, r); err != nil {
		return nil, err
	}
	if leave, err = l.reserveRows(r, rows); err != nil {
		return nil, err
	}
	account, ok, err := l.take(w, r, things)
	if err == nil && !ok {
		err = tooManyBytesOfRows(account, total(things), int64(rows))
	}
	if err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// reserveRows reserves rows of a key, unless they would exceed its limit together with those that
// others have reserved or that run. They are reserved before those that run are counted: so
// another batch is in one of the two numbers, or for a moment in both.
func (l *Limits) reserveRows(r *request.Request, more int) (leave func(), err error) {
	ctx := r.Context()
	limit := l.of(r).BatchItems
	if limit <= 0 {
		return func() {}, nil
	}
	if more > limit {
		return nil, errBatchTooLarge
	}
	reserved := pace.Kept{Name: rand.Text(), Size: int64(more), TTL: rowsReservedFor}
	leave = func() { // else it falls back by itself
		_ = l.options.Rows.Forget(context.WithoutCancel(ctx), r.Holder(), reserved.Name)
	}
	account, ok, err := l.options.Rows.Take(ctx, r.Key.ID, int64(limit), reserved)
	running := 0
	if err == nil && ok {
		running, err = l.options.Batches.CountActiveRows(ctx, r.Key.ID)
	}
	switch {
	case err != nil:
		return nil, err
	case !ok || account.Used+int64(running) > int64(limit):
		leave()
		return nil, errTooManyBatchItems
	}
	return leave, nil
}

// Room is the room that something needs, and that its key has.
type Room struct {
	Bytes int64 `json:"bytes"`           // that it needs
	Used  int64 `json:"used"`            // by all that the key has
	Limit int64 `json:"limit,omitempty"` // of the key; 0 is none
	Fits  bool  `json:"fits"`
}

// Room returns whether there is room for things.
func (l *Limits) Room(r *request.Request, things ...pace.Kept) (room Room, err error) {
	account, err := l.options.Bytes.Read(r.Context(), pace.Holder{Whole: r.Caller()})
	if err != nil {
		return room, err
	}
	account.Limit = l.of(r).Bytes
	needed := total(things)
	return Room{needed, account.Used, account.Limit, needed <= account.Left()}, nil
}

func total(things []pace.Kept) (size int64) {
	for _, kept := range things {
		size += kept.Size
	}
	return size
}

// tooManyBytesOfRows says how many of the rows of a batch there is room for, and when there will be more.
func tooManyBytesOfRows(account pace.Account, needed, rows int64) error {
	status, variant, room := http.StatusTooManyRequests, "too_many_bytes.batch", account.Left()
	ever := needed <= account.Limit
	if !ever {
		status, variant, room = http.StatusRequestEntityTooLarge, "too_many_bytes.batch_once", account.Limit
	}
	p := problem.New(status, variant, message.Values{
		"needed": megabytes(needed), "free": megabytes(account.Left()), "limit": megabytes(account.Limit),
		"rows": strconv.FormatInt(room*rows/needed, 10),
	})
	if ever {
		p = p.After(untilFree(account))
	}
	return p
}

// megabytes is a size as people read it, not less than it is.
func megabytes(size int64) string {
	return fmt.Sprintf("%.1f MB", math.Ceil(float64(size)/(1<<20)*10)/10) //nolint:mnd // tenths
}

// tooManyBytes refuses what needs more bytes than there is room for, and says when there will be more.
func tooManyBytes(account pace.Account, needed int64) error {
	if needed > account.Limit {
		return errTooLargeForKey
	}
	return errTooManyBytes.After(untilFree(account))
}

// untilFree returns when a caller should ask for room again.
func untilFree(account pace.Account) time.Duration {
	return max(request.WholeSeconds(time.Until(account.Free)), time.Minute)
}

// WithAITokens is the middleware of endpoints that need the AI. It sets the header
// Key-AI-Tokens: what the key had used of its tokens of the day when the request came.
func (l *Limits) WithAITokens(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := l.ShowAITokens(w, request.From(r)); err != nil {
			return err
		}
		return next(w, r)
	}
}

// ShowAITokens sets the header Key-AI-Tokens.
func (l *Limits) ShowAITokens(w http.ResponseWriter, r *request.Request) error {
	limit := l.of(r).AITokens
	if limit <= 0 || l.options.AIUsage == nil {
		return nil
	}
	used, resets, err := l.options.AIUsage(r.Context(), r.Caller())
	if err != nil {
		return err
	}
	left := request.WholeSeconds(time.Until(resets))
	value := fmt.Sprintf("used=%d, limit=%d, reset=%s", used, limit, request.Seconds(left))
	switch {
	case used*100 >= limit*80:
		value += ", warning=80"
	case used*100 >= limit*50:
		value += ", warning=50"
	}
	w.Header().Set("Key-Ai-Tokens", value)
	return nil
}

// Turn returns a turn of an owner at the processors.
func (l *Limits) Turn(owner string) *pace.Turn { return l.options.Processor.Turn(owner) }

// PersonGoesOn has the batches of this process yield for a moment.
func (l *Limits) PersonGoesOn() { l.options.Processor.PersonGoesOn() }

// Admit bills a request to its caller before anything of it is read, and has its
// computations take turns. A caller who has used more than a share of the processors is
// refused.
func (l *Limits) Admit(r *request.Request) error {
	r.Place.Turn = l.Turn(r.Caller())
	return l.options.Processor.Admit(r.Caller())
}

// remembered is how long what was computed is kept, and maxRemembered how many of these.
const (
	remembered    = time.Minute
	maxRemembered = 512
)

type computed struct {
	result []byte
	at     time.Time
}

// ComputeOnce is Compute, unless the same was computed in the last minute: of equal bytes, and as
// the same value.
func (l *Limits) ComputeOnce(r *request.Request, of []byte, as any, compute func() ([]byte, error)) ([]byte, error) {
	name, err := json.Marshal(as)
	if err != nil {
		return nil, fmt.Errorf("await: identity of a computation: %w", err)
	}
	key := string(name) + request.Hash(of)
	if known, ok := l.computed.Get(key); ok && time.Since(known.at) < remembered {
		return known.result, nil
	}
	result, err := l.Compute(r, compute)
	if err == nil && result != nil {
		l.computed.Add(key, computed{result, time.Now()})
	}
	return result, err
}

// Compute computes bytes in the turn of a request. The computation may give the turn back while
// it waits for something. What a request gets that has counted against its rate is billed, and
// never refused.
func (l *Limits) Compute(r *request.Request, compute func() ([]byte, error)) ([]byte, error) {
	begin := r.Place.Turn.Begin
	if r.Counted {
		begin = r.Place.Turn.Take
	}
	if err := begin(r.Context()); err != nil {
		return nil, err
	}
	defer r.Place.Turn.Give()
	return compute()
}

// turnSize is how much of a large body is decoded in one turn, in bytes.
const turnSize = 256 << 10

// takeTurns has the body of a request decoded in turns.
func takeTurns(r *request.Request, from io.Reader) {
	turned := &turnedReader{from, r.Context(), r.Place.Turn}
	size := turnSize
	if r.ContentLength >= 0 {
		size = min(size, int(r.ContentLength)+1) // the end is read with the last byte
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{bufio.NewReaderSize(turned, size), r.Body}
}

// turnedReader is a reader of a connection: the place is given back while it waits.
type turnedReader struct {
	io.Reader
	ctx  context.Context //nolint:containedctx // a Reader has no other way to learn of its end
	turn *pace.Turn
}

// Read implements io.Reader.
func (r *turnedReader) Read(p []byte) (int, error) {
	r.turn.Give()
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, err // net/http has cancelled the request: no turn is needed to say why
	}
	if taken := r.turn.Take(r.ctx); taken != nil {
		return n, taken
	}
	return n, err
}
