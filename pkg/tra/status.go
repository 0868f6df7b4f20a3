package tra

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"ushuru/pkg/message"
)

// State is the last known state of the authority.
type State string

// The states.
const (
	Up       State = "up"
	Degraded State = "degraded" // it answers slowly, unusably or only sometimes
	Down     State = "down"
	Unknown  State = "unknown" // there was no call for 90 seconds
)

// Status is the response of /v1/tra-status. A time that is not known is null.
type Status struct {
	State         State      `json:"status"`
	CheckedAt     *time.Time `json:"checkedAt"`
	LatencyMS     int64      `json:"latencyMs"` // of the last call
	LastSuccessAt *time.Time `json:"lastSuccessAt"`
	LastFailureAt *time.Time `json:"lastFailureAt"`
	Breaker       string     `json:"breaker,omitempty"`   // closed, half-open or open, of the process that called last
	ErrorKind     Kind       `json:"errorKind,omitempty"` // of the last failure, while it degrades

	// Why the authority cannot be asked now.
	Outage //nolint:embeddedstructfieldcheck // its fields come last in the response
}

// Status reads what probes and calls recorded.
func (s *Store) Status(ctx context.Context) (Status, error) {
	pipe := s.redis.Pipeline()
	hash, worker := pipe.HGetAll(ctx, keyStatus), pipe.Exists(ctx, keyWorkerAlive)
	if _, err := pipe.Exec(ctx); err != nil {
		return Status{}, fmt.Errorf("tra: status: %w", err)
	}
	fields := hash.Val()
	status := Status{
		CheckedAt: timeOf(fields[fieldChecked]), LastSuccessAt: timeOf(fields[fieldSuccess]),
		LastFailureAt: timeOf(fields[fieldFailure]), Breaker: fields[fieldBreaker], ErrorKind: Kind(fields[fieldKind]),
	}
	status.LatencyMS, _ = strconv.ParseInt(fields[fieldLatency], 10, 64)
	now := s.options.Now()
	status.State, status.Outage = status.classify(now), status.outage(now, worker.Val() > 0)
	if status.Reason != "" {
		status.State = Down
	}
	if status.State == Up {
		status.ErrorKind = ""
	}
	return status, nil
}

func (s Status) classify(now time.Time) State {
	failedLast := s.LastFailureAt != nil && (s.LastSuccessAt == nil || s.LastFailureAt.After(*s.LastSuccessAt))
	failedLately := s.LastFailureAt != nil && now.Sub(*s.LastFailureAt) < statusRecent
	switch {
	case s.CheckedAt == nil || now.Sub(*s.CheckedAt) > statusMaxAge:
		return Unknown
	case failedLast && s.ErrorKind != BadAnswer:
		return Down
	case failedLast, failedLately, s.LatencyMS >= statusSlow.Milliseconds():
		return Degraded
	default:
		return Up
	}
}

const (
	keyStatus     = "tra:status"     // hash: see fields
	statusMaxAge  = 90 * time.Second // probes are a minute apart
	statusSlow    = 10 * time.Second
	statusRecent  = time.Minute // a failure younger than this means Degraded
	writeEvery    = time.Second
	fieldChecked  = "checkedAt"
	fieldLatency  = "latencyMs"
	fieldSuccess  = "lastSuccessAt"
	fieldFailure  = "lastFailureAt"
	fieldKind     = "errorKind"
	fieldBreaker  = "breaker"
	timeInRedis   = time.RFC3339Nano
	statusExpires = 7 * 24 * time.Hour
)

// Outage is the reason why the authority's calculator cannot be called now. The zero value means
// that it can be called, or that nothing is known.
type Outage struct {
	Reason  string `json:"reason,omitempty"`  // no_worker, or the kind of the errors: refused, unavailable, certificate
	Message string `json:"message,omitempty"` // a sentence for people

	Text *message.Text `json:"text,omitempty"` // Message in both languages
}

// Notice returns what people are to know of the outage.
func (o Outage) Notice() message.Notice { return message.New("outage/"+o.Reason, nil) }

func outageOf(reason string) Outage {
	o := Outage{Reason: reason}
	o.Message, o.Text = o.Notice().Message, o.Notice().Text
	return o
}

// ReasonNoWorker is the reason of an outage without a running worker of the role
// authority. The other reasons are kinds of error.
const ReasonNoWorker = "no_worker"

const (
	keyWorkerAlive = "tra:worker" // set while a worker that calls the authority is alive

	// WorkerInterval is how often such a worker says that it is alive, and workerTTL
	// how long that counts.
	WorkerInterval = 4 * time.Second
	workerTTL      = 12 * time.Second

	// outageAfter is how long no call of any worker must have succeeded: a worker that
	// is refused is no outage while another is answered.
	outageAfter = 10 * time.Second
	// outageTTL is how long a process uses what it has read of the status.
	outageTTL = time.Second
)

// outage returns the outage that a status shows.
func (s Status) outage(now time.Time, worker bool) Outage {
	if !worker {
		return outageOf(ReasonNoWorker)
	}
	failing := s.LastFailureAt != nil && (s.LastSuccessAt == nil || s.LastFailureAt.Sub(*s.LastSuccessAt) > outageAfter ||
		s.LastFailureAt.After(*s.LastSuccessAt) && now.Sub(*s.LastSuccessAt) > outageAfter)
	if !failing || s.CheckedAt == nil || now.Sub(*s.CheckedAt) > statusMaxAge {
		return Outage{}
	}
	switch s.ErrorKind {
	case Refused, Certificate:
		return outageOf(string(s.ErrorKind))
	case Unavailable:
		if s.Breaker != "closed" { // a single failure is no outage
			return outageOf(string(s.ErrorKind))
		}
	case NoSuchVehicle, BadAnswer:
	}
	return Outage{}
}

// Outages tells whether the authority can be asked, for many callers of one process:
// it reads the status at most once a second.
type Outages struct {
	read func(context.Context) (Status, error)

	mu     sync.Mutex
	readAt time.Time
	last   Outage
	since  time.Time // when this process saw no outage last; zero: never
}

// NewOutages returns Outages that read a status, usually that of a Store.
func NewOutages(status func(context.Context) (Status, error)) *Outages { return &Outages{read: status} }

// Now returns the present outage. A status that cannot be read is no outage.
func (o *Outages) Now(ctx context.Context) Outage {
	outage, _ := o.Lasting(ctx)
	return outage
}

// Lasting returns the present outage and for how long it may have lasted: since
// the last look of this process that found none.
func (o *Outages) Lasting(ctx context.Context) (outage Outage, lasts time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.readAt) >= outageTTL {
		status, err := o.read(ctx)
		if err != nil {
			return Outage{}, 0
		}
		if o.last.Reason == "" {
			o.since = o.readAt // it cannot have begun earlier, as far as this process knows
		}
		o.readAt, o.last = time.Now(), status.Outage
	}
	if o.last.Reason == "" {
		return o.last, 0
	}
	return o.last, time.Since(o.since)
}

// Probe requests the makes without the throttle, records the outcome and returns
// the status. It returns an error only when the status cannot be stored.
func (a *Authority) Probe(ctx context.Context) (Status, error) {
	start := time.Now()
	makes, err := a.client.Makes(ctx)
	took := time.Since(start)
	if err == nil && len(makes) == 0 {
		err = &Error{Kind: BadAnswer, Call: callMakes, Status: 200, cause: errors.New("a list of no makes")}
	}
	if a.options.OnCall != nil {
		a.options.OnCall(callMakes, took, err)
	}
	if KindOf(err) == "" && err != nil {
		return Status{}, err // the caller's context ended
	}
	a.logCall(ctx, callMakes, took, err)
	a.recordRefusal(ctx, callMakes, err)
	if err := a.writeStatus(ctx, took, err); err != nil {
		return Status{}, err
	}
	return a.store.Status(ctx)
}

// statusRecorder limits the writes of the status: one a second for successes, one
// a second for failures, and one whenever the breaker changes.
type statusRecorder struct {
	success, failure atomic.Int64 // Unix nanoseconds of the last write
	breaker          atomic.Int64 // as last written
}

// recordCall writes the status after a call, at the rate of statusRecorder.
func (a *Authority) recordCall(ctx context.Context, took time.Duration, err error) {
	last := &a.statusRecorder.success
	switch KindOf(err) {
	case "":
		if err != nil {
			return // the caller went away
		}
	case NoSuchVehicle: // an answer
		err = nil
	default:
		last = &a.statusRecorder.failure
	}
	breaker := int64(a.throttle.State())
	turned := a.statusRecorder.breaker.Swap(breaker) != breaker
	now, before := time.Now().UnixNano(), last.Load()
	if !turned && (now-before < int64(writeEvery) || !last.CompareAndSwap(before, now)) {
		return
	}
	// A status that cannot be written must not cost the answer; it grows old and is then
	// reported as unknown.
	_ = a.writeStatus(context.WithoutCancel(ctx), took, err)
}

func (a *Authority) writeStatus(ctx context.Context, took time.Duration, err error) error {
	now := a.store.options.Now().UTC().Format(timeInRedis)
	values := []any{
		fieldChecked, now, fieldLatency, took.Milliseconds(),
		fieldBreaker, a.throttle.State().String(),
	}
	if err == nil {
		values = append(values, fieldSuccess, now)
	} else {
		values = append(values, fieldFailure, now, fieldKind, string(KindOf(err)))
	}
	pipe := a.store.redis.TxPipeline()
	pipe.HSet(ctx, keyStatus, values...)
	pipe.Expire(ctx, keyStatus, statusExpires)
	_, err = pipe.Exec(ctx)
	return failed(err, "record status")
}

func timeOf(text string) *time.Time {
	at, err := time.Parse(timeInRedis, text)
	if err != nil {
		return nil
	}
	return &at
}
