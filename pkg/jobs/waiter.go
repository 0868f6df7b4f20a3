package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"ushuru/pkg/redisx"
)

// recheckInterval is how often a waiting caller reads the state of its job, in
// case the message that the job has ended was lost.
const recheckInterval = 1500 * time.Millisecond

// Hub lets many callers wait for the end of jobs on one subscription, and watch
// jobs and other records with one poll for all of them.
type Hub struct {
	// Refused, if not nil, is called with each message that could not be taken. It is set
	// before Run.
	Refused func(channel string, cause error)

	store    *Store
	mu       sync.Mutex
	subjects map[string]*subject // by job, or key of another record
}

// subject is a job or another record that callers wait for or watch.
type subject struct {
	callers  map[chan struct{}]bool // each gets a value when the subject may have changed
	watchers int                    // callers for whom the record is polled
	key      string                 // of the record, a hash
	fields   []string               // of it that are polled
	seen     string                 // at the last poll
}

// NewHub makes a Hub. Its callers are woken only while Run runs.
func NewHub(store *Store) *Hub {
	return &Hub{store: store, subjects: map[string]*subject{}}
}

// Run listens for jobs that end, and polls the watched records, until ctx ends. A
// message that was lost is found by the waiting callers' own check.
func (h *Hub) Run(ctx context.Context) {
	var polling sync.WaitGroup
	polling.Go(func() { h.pollLoop(ctx) })
	defer polling.Wait()
	redisx.Listener{
		Client: h.store.redis, Channel: ChannelEnded, Refused: h.Refused,
		Heard: func(id string) error {
			h.wake(id)
			return nil
		},
	}.Run(ctx)
}

// Waiting returns how many callers wait or watch.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, s := range h.subjects {
		n += len(s.callers)
	}
	return n
}

// Wait returns the job once it has ended, or the error of ctx. It returns
// ErrNotFound when there is no such job.
func (h *Hub) Wait(ctx context.Context, id string) (job *Job, err error) {
	waitErr := h.wait(ctx, id, true, func() bool {
		hasEnded, endedErr := h.store.ended(ctx, id)
		if err = endedErr; err == nil && hasEnded {
			job, err = h.store.Get(ctx, id)
		}
		return err == nil && hasEnded || errors.Is(err, ErrNotFound) // any other error: Redis may come back while there is time
	})
	if waitErr != nil {
		return nil, waitErr
	}
	return job, err
}

// WaitEnded returns nil once the job has ended or its record is gone, or the error
// of ctx. It is for callers that mostly stop waiting before: unlike Wait it does
// not read the record before a message has come or recheckInterval has passed.
func (h *Hub) WaitEnded(ctx context.Context, id string) error {
	return h.wait(ctx, id, false, func() bool {
		hasEnded, err := h.store.ended(ctx, id)
		return hasEnded || errors.Is(err, ErrNotFound)
	})
}

// wait looks whether a job is as it is waited for, at once if that is wanted, and after each message
// and each interval. It returns nil once it is, or the error of ctx.
func (h *Hub) wait(ctx context.Context, id string, atOnce bool, done func() bool) error {
	ended, leave := h.subscribe(id, "")
	defer leave()
	ticker := time.NewTicker(recheckInterval)
	defer ticker.Stop()
	for !atOnce || !done() {
		atOnce = true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		case <-ticker.C:
		}
	}
	return nil
}

func (h *Hub) wake(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.subjects[name]; s != nil {
		s.wake()
	}
}

func (s *subject) wake() {
	for caller := range s.callers {
		select {
		case caller <- struct{}{}:
		default:
		}
	}
}

// subscribe returns a channel that gets a value when a subject may have changed, until leave is
// called. Without a key its record is not polled.
func (h *Hub) subscribe(name, key string, fields ...string) (changed chan struct{}, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.subjects[name]
	if s == nil {
		s = &subject{callers: map[chan struct{}]bool{}}
		h.subjects[name] = s
	}
	polled := 0
	if key != "" {
		polled, s.key, s.fields = 1, key, fields
	}
	changed = make(chan struct{}, 1)
	s.callers[changed] = true
	s.watchers += polled
	return changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(s.callers, changed)
		s.watchers -= polled
		if len(s.callers) == 0 {
			delete(h.subjects, name)
		}
	}
}
