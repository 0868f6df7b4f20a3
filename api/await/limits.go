package await

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
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
	ctx := r.Context()
	own, key := l.of(r), r.Caller()
	if wanted.Rows > 0 {
		if err := l.checkRows(ctx, r, wanted.Rows); err != nil {
			return err
		}
	}
	if wanted.Job && own.Jobs > 0 {
		var err error
		r.Reserved, err = l.options.Jobs.Reserve(ctx, r.Holder(), own.Jobs)
		switch {
		case err != nil:
			return err
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
		return err
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
	account, err := l.options.Bytes.Read(r.Context(), pace.Holder{Whole: r.Caller()})
	if err != nil {
		return room, err
	}
	account.Limit = l.of(r).Bytes
	needed := total(things)
	return Room{needed, account.Used, account.Limit, needed <= account.Left()}, nil
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
