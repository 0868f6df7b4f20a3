package tra

import (
	"context"
	"sync"
	"time"

	"ushuru/pkg/message"
)

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
