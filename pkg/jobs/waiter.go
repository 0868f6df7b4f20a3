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

	store   *Store
	mu      sync.Mutex
	waiters map[string]map[chan struct{}]bool // by job, or key of another record

	watching watching
}

// NewHub makes a Hub. Its callers are woken only while Run runs.
func NewHub(store *Store) *Hub {
	return &Hub{store: store, waiters: map[string]map[chan struct{}]bool{}}
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
	for _, chans := range h.waiters {
		n += len(chans)
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
	ended := make(chan struct{}, 1)
	h.subscribe(id, ended)
	defer h.unsubscribe(id, ended)
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

func (h *Hub) wake(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ended := range h.waiters[id] {
		select {
		case ended <- struct{}{}:
		default:
		}
	}
}

func (h *Hub) subscribe(id string, ended chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiters[id] == nil {
		h.waiters[id] = map[chan struct{}]bool{}
	}
	h.waiters[id][ended] = true
}

func (h *Hub) unsubscribe(id string, ended chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiters[id], ended)
	if len(h.waiters[id]) == 0 {
		delete(h.waiters, id)
	}
}
