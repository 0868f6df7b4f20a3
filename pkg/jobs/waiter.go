package jobs

import (
	"context"
	"errors"
	"sync"
	"time"
)

// recheckInterval is how often a waiter looks for itself, in case the message that its
// job has ended was lost.
const recheckInterval = 1500 * time.Millisecond

// Hub lets many callers wait for jobs on one subscription, and follow jobs and
// other records with one look for all of them.
type Hub struct {
	store   *Store
	mu      sync.Mutex
	waiters map[string]map[chan struct{}]bool // by job, or key of another record

	watching watching
}

// NewHub makes a Hub; Run feeds it.
func NewHub(store *Store) *Hub {
	return &Hub{store: store, waiters: map[string]map[chan struct{}]bool{}}
}

// Run listens for ended jobs until ctx ends. The Redis client subscribes
// again by itself when the connection breaks; what was said meanwhile is
// found by the waiters' own look.
func (h *Hub) Run(ctx context.Context) {
	sub := h.store.redis.Subscribe(ctx, channelEnded)
	defer func() { _ = sub.Close() }()
	messages := sub.Channel()
	var looking sync.WaitGroup
	looking.Go(func() { h.pollLoop(ctx) })
	defer looking.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case message, ok := <-messages:
			if !ok {
				return
			}
			h.wake(message.Payload)
		}
	}
}

// Waiting is how many callers are waiting now.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, chans := range h.waiters {
		n += len(chans)
	}
	return n
}

// Wait returns the job once it has ended, or ctx's error. ErrNotFound when
// there is no such job.
func (h *Hub) Wait(ctx context.Context, id string) (*Job, error) {
	ended := make(chan struct{}, 1)
	h.subscribe(id, ended)
	defer h.unsubscribe(id, ended)
	ticker := time.NewTicker(recheckInterval)
	defer ticker.Stop()
	for {
		over, err := h.store.ended(ctx, id)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, err
		case err == nil && over:
			job, err := h.store.Get(ctx, id)
			if err == nil || errors.Is(err, ErrNotFound) {
				return job, err
			}
		} // any other error: Redis may come back while there is time
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ended:
		case <-ticker.C:
		}
	}
}

// WaitEnded returns once the job has ended or its record is gone, or ctx's error.
// It is for those who mostly stop waiting before: unlike Wait it does not look
// at the record before anything was said or some time has passed.
func (h *Hub) WaitEnded(ctx context.Context, id string) error {
	ended := make(chan struct{}, 1)
	h.subscribe(id, ended)
	defer h.unsubscribe(id, ended)
	ticker := time.NewTicker(recheckInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		case <-ticker.C:
		}
		if over, err := h.store.ended(ctx, id); over || errors.Is(err, ErrNotFound) {
			return nil
		}
	}
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
