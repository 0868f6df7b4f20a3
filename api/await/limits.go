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
	"os"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// Why a request is refused. Each is named by its code.
var (
	errRateLimited       = problem.New(http.StatusTooManyRequests, "rate_limited", nil)
	errTooManyUploads    = problem.New(http.StatusTooManyRequests, "too_many_uploads", nil).After(request.PollAfter)
	errTooManyExports    = problem.New(http.StatusTooManyRequests, "too_many_exports", nil).After(request.PollAfter)
	errTooManyBytes      = problem.New(http.StatusTooManyRequests, "too_many_bytes", nil)
	errTooLargeForKey    = problem.New(http.StatusRequestEntityTooLarge, "too_many_bytes.once", nil)
	errTooManyJobs       = problem.New(http.StatusTooManyRequests, "too_many_jobs", nil).After(request.PollAfter)
	errTooManyBatchItems = problem.New(http.StatusTooManyRequests, "too_many_batch_items", nil).After(time.Minute)
	errBatchTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
)

// LimitOptions are the parts and settings of Limits.
type LimitOptions struct {
	Rates *pace.Rates
	// Processor is the time of the processors of this process.
	Processor *pace.Processor
	Bytes     *pace.Bytes
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
	ctx, cancel := context.WithTimeout(r.Context(), request.RedisTimeout)
	defer cancel()
	allowance, err := l.options.Rates.Take(ctx, pace.PerMinute(r.Caller(), perMinute))
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	r.Counted = true
	request.SetRateLimit(w.Header(), pace.Policy{Name: "minute", Quota: perMinute, Window: time.Minute}, allowance)
	if !allowance.Allowed {
		return errRateLimited.After(max(request.WholeSeconds(allowance.RetryAfter), time.Second))
	}
	return nil
}

// Demand is what a request takes of the limits of its key, beside one request of its minute.
type Demand struct {
	Job  bool        // one more running job
	Rows int         // of batches that run
	Keep []pace.Kept // bytes that are stored
}

// Take counts a request and what it takes, unless its key would exceed one of its limits. It
// sets the headers RateLimit and Key-Bytes.
func (l *Limits) Take(w http.ResponseWriter, r *request.Request, wanted Demand) error {
	if err := l.CheckRate(w, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), request.RedisTimeout)
	defer cancel()
	own, key := l.of(r), r.Caller()
	if wanted.Rows > 0 {
		if err := l.checkRows(ctx, r, wanted.Rows); err != nil {
			return err
		}
	}
	if wanted.Job && own.Jobs > 0 {
		var err error
		r.Reserved, err = l.options.Jobs.Reserve(ctx, key, own.Jobs)
		switch {
		case err != nil:
			return request.ErrUnavailable.WithCause(err)
		case r.Reserved == "":
			return errTooManyJobs
		}
	}
	if len(wanted.Keep) == 0 {
		return nil
	}
	account, ok, err := l.options.Bytes.Take(ctx, key, own.Bytes, wanted.Keep...)
	switch {
	case ok:
	case wanted.Rows > 0:
		l.LeaveRows(r)
	default:
		_ = l.Track(r, nil) // else the place falls back by itself
	}
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	w.Header().Set("Key-Bytes", account.Header())
	if ok {
		return nil
	}
	return tooManyBytes(wanted, account)
}

// tooManyBytes says what is to be kept, what there is room for, and when there will be more.
func tooManyBytes(wanted Demand, account pace.Account) error {
	needed := total(wanted.Keep)
	ever := needed <= account.Limit
	free := max(request.WholeSeconds(time.Until(account.Free)), time.Minute)
	switch {
	case wanted.Rows > 0:
		room := account.Left()
		variant := "too_many_bytes.batch"
		if !ever {
			room, variant = account.Limit, "too_many_bytes.batch_once"
		}
		p := problem.New(statusOfBytes(ever), variant, message.Values{
			"needed": megabytes(needed), "free": megabytes(account.Left()), "limit": megabytes(account.Limit),
			"rows": strconv.FormatInt(room*int64(wanted.Rows)/needed, 10),
		})
		if ever {
			p = p.After(free)
		}
		return p
	case !ever:
		return errTooLargeForKey
	}
	return errTooManyBytes.After(free)
}

func statusOfBytes(ever bool) int {
	if ever {
		return http.StatusTooManyRequests
	}
	return http.StatusRequestEntityTooLarge
}

// megabytes is a size as people read it, not less than it is.
func megabytes(size int64) string {
	return fmt.Sprintf("%.1f MB", math.Ceil(float64(size)/(1<<20)*10)/10)
} //nolint:mnd // tenths

func total(things []pace.Kept) (size int64) {
	for _, kept := range things {
		size += kept.Size
	}
	return size
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
	ctx, cancel := context.WithTimeout(r.Context(), request.RedisTimeout)
	defer cancel()
	account, err := l.options.Bytes.Read(ctx, r.Caller())
	if err != nil {
		return room, request.ErrUnavailable.WithCause(err)
	}
	account.Limit = l.of(r).Bytes
	needed := total(things)
	return Room{needed, account.Used, account.Limit, needed <= account.Left()}, nil
}

// rowsReservedFor is how long rows are reserved for a batch that is about to be created. Those
// of a process that was killed are free afterwards.
const rowsReservedFor = 15 * time.Second

// keyRows is the account of the rows that a key has reserved.
func keyRows(r *request.Request) string { return "rows-" + r.Key.ID }

// checkRows reserves rows of a key, unless they would exceed its limit together with those that
// others have reserved or that run. They are reserved before those that run are counted: so
// another batch is in one of the two numbers, or for a moment in both.
func (l *Limits) checkRows(ctx context.Context, r *request.Request, more int) error {
	limit := l.of(r).BatchItems
	if limit <= 0 {
		return nil
	}
	if more > limit {
		return errBatchTooLarge
	}
	r.Reserved = rand.Text()
	rows := pace.Kept{Name: r.Reserved, Size: int64(more), TTL: rowsReservedFor}
	reserved, ok, err := l.options.Bytes.Take(ctx, keyRows(r), int64(limit), rows)
	running := 0
	if err == nil && ok {
		running, err = l.options.Batches.CountActiveRows(ctx, r.Key.ID)
	}
	switch {
	case err != nil:
		return request.ErrUnavailable.WithCause(err)
	case !ok || reserved.Used+int64(running) > int64(limit):
		l.LeaveRows(r) //nolint:contextcheck // it has that of the request
		return errTooManyBatchItems
	}
	return nil
}

// LeaveRows ends the reservation of rows: their batch counts them now, or there is none.
func (l *Limits) LeaveRows(r *request.Request) {
	if r.Reserved == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), request.RedisTimeout)
	defer cancel()
	_ = l.options.Bytes.Forget(ctx, keyRows(r), r.Reserved) // else it falls back by itself
	r.Reserved = ""
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
	ctx, cancel := context.WithTimeout(r.Context(), request.RedisTimeout)
	defer cancel()
	used, resets, err := l.options.AIUsage(ctx, r.Caller())
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
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

// Track counts a running job in the place that Take has reserved for it; nil counts none.
func (l *Limits) Track(r *request.Request, job *jobs.Job) error {
	if r.Reserved == "" {
		return nil
	}
	id := ""
	if job != nil && !job.State.Ended() {
		id = job.ID
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), request.RedisTimeout)
	defer cancel()
	place := r.Reserved
	r.Reserved = ""
	if err := l.options.Jobs.Track(ctx, r.Caller(), place, id); err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	return nil
}

// Forget ends the count of what was kept for a key under names, because it is not kept.
func (l *Limits) Forget(ctx context.Context, owner string, names ...string) error {
	return l.options.Bytes.Forget(ctx, owner, names...)
}

const (
	// maxLargeBodies and maxExports bound the memory for large bodies that are being
	// received, and for results that are being sent. One key never has all places.
	maxLargeBodies = 6
	maxExports     = 6
	// maxQueued is how many requests of a key wait for a place at once, and placeTimeout
	// is how long each does.
	maxQueued    = 20
	placeTimeout = 15 * time.Second

	// A body must arrive at leastRate, in bytes per second, but for slowStart.
	leastRate = 32 << 10
	slowStart = 10 * time.Second

	// uploadTimeout is for the response to a large body.
	uploadTimeout = time.Minute

	// turnSize is how much of a large body is decoded in one turn, in bytes.
	turnSize = 256 << 10
)

// WithPlace is the middleware of lists that need much memory.
func (l *Limits) WithPlace(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		release, err := l.TakeExport(request.From(r))
		if err != nil {
			return err
		}
		defer release()
		return next(w, r)
	}
}

// TakeExport takes a place for results that are being sent, and waits for it.
func (l *Limits) TakeExport(r *request.Request) (release func(), err error) {
	return takePlace(r, l.exports, errTooManyExports)
}

// Turn returns a turn of an owner at the processors.
func (l *Limits) Turn(owner string) *pace.Turn { return l.options.Processor.Turn(owner) }

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

// Compute computes bytes in the turn of a request, unless they were computed in the last
// minute: identity names what they depend on; nil remembers nothing. The computation may give
// the turn back while it waits for something. What a request gets that has counted against
// its rate is billed, and never refused.
func (l *Limits) Compute(r *request.Request, identity any, compute func() ([]byte, error)) ([]byte, error) {
	key := ""
	if identity != nil {
		name, err := json.Marshal(identity)
		if err != nil {
			return nil, fmt.Errorf("await: identity of a computation: %w", err)
		}
		key = request.Hash(name)
		if known, ok := l.computed.Get(key); ok && time.Since(known.at) < remembered {
			return known.result, nil
		}
	}
	begin := r.Place.Turn.Begin
	if r.Counted {
		begin = r.Place.Turn.Take
	}
	if err := begin(r.Context()); err != nil {
		return nil, err
	}
	defer r.Place.Turn.Give()
	result, err := compute()
	if err == nil && result != nil && key != "" {
		l.computed.Add(key, computed{result, time.Now()})
	}
	return result, err
}

// takePlace takes one of the places for what needs much memory, and waits for it.
func takePlace(r *request.Request, places *pace.Places, busy *problem.Problem) (release func(), err error) {
	owner := r.Caller()
	ctx, cancel := context.WithTimeout(r.Context(), placeTimeout)
	defer cancel()
	release, err = places.TakeAmong(ctx, owner, maxQueued)
	switch {
	case r.Context().Err() != nil && err != nil:
		return nil, request.ErrClientClosedRequest.WithCause(err)
	case err != nil:
		return nil, busy.WithCause(err)
	}
	return release, nil
}

// WithBody is the middleware of endpoints whose body may be large.
func (l *Limits) WithBody(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := l.AdmitBody(w, request.From(r)); err != nil {
			return err
		}
		return next(w, r)
	}
}

// AdmitBody counts a request with a large body before the body is read, and takes a
// place for it, which the request has until its body is no longer needed. A small one is
// only decoded in turns. The body must then arrive at a least rate: the server's own
// timeouts are for small requests.
func (l *Limits) AdmitBody(w http.ResponseWriter, r *request.Request) error {
	if r.Place.Turn == nil {
		r.Place.Turn = l.Turn(r.Caller())
	}
	if r.ContentLength >= 0 && r.ContentLength <= request.MaxBody {
		takeTurns(r, r.Body)
		return nil
	}
	if err := l.CheckRate(w, r); err != nil {
		return err
	}
	release, err := takePlace(r, l.bodies, errTooManyUploads)
	if err != nil {
		return err
	}
	r.Place.Release = sync.OnceFunc(func() {
		release()
		// A connection that does not support deadlines has none to extend.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(l.options.WaitMax + uploadTimeout/2))
	})
	paced := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begun: time.Now()}
	takeTurns(r, paced)
	return nil
}

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

// pacedBody is a body that must arrive at a least rate.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	got     int64
}

// Read returns request.ErrTooSlow when the body has arrived more slowly.
func (b *pacedBody) Read(p []byte) (int, error) {
	deadline := b.begun.Add(slowStart + time.Duration(b.got)*time.Second/leastRate)
	_ = b.control.SetReadDeadline(deadline)
	_ = b.control.SetWriteDeadline(deadline.Add(uploadTimeout))
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if sent, compressed := b.ReadCloser.(interface{ Wire() int64 }); compressed {
		b.got = sent.Wire() // what a small body becomes does not make it arrive faster
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, request.ErrTooSlow.WithCause(err)
	}
	return n, err
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
