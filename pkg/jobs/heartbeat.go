package jobs

import (
	"context"
	"time"
)

const (
	heartbeatInterval = time.Second
	// heartbeatTTL is how long a worker counts as alive after its last heartbeat.
	heartbeatTTL = 5 * time.Second
)

func keyWorker(id string) string { return "worker:{" + id + "}" }

// Heartbeat records that a worker is alive.
func (s *Store) Heartbeat(ctx context.Context, worker string) error {
	return s.redis.Set(ctx, keyWorker(worker), "alive", heartbeatTTL).Err()
}

// Alive reports whether a worker has sent a heartbeat in the last 5 s.
func (s *Store) Alive(ctx context.Context, worker string) (bool, error) {
	n, err := s.redis.Exists(ctx, keyWorker(worker)).Result()
	return n > 0, err
}

// Deregister deletes the heartbeat of a worker that stops, so that its steps are
// recovered before its heartbeat expires.
func (s *Store) Deregister(ctx context.Context, worker string) error {
	return s.redis.Del(ctx, keyWorker(worker)).Err()
}

// Heartbeater sends the heartbeats of a worker until ctx ends, and knows since
// when it has done so without a gap.
type Heartbeater struct {
	store  *Store
	worker string
	uptime chan uptime
}

// uptime is when the last heartbeat was tried, and since when all have succeeded
// in time; zero after a gap.
type uptime struct{ last, since time.Time }

// NewHeartbeater makes a Heartbeater. Call Start, then Run.
func NewHeartbeater(store *Store, worker string) *Heartbeater {
	h := &Heartbeater{store: store, worker: worker, uptime: make(chan uptime, 1)}
	h.uptime <- uptime{}
	return h
}

// Run sends heartbeats until ctx ends, then deregisters the worker. Start sends
// the first one.
func (h *Heartbeater) Run(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatInterval)
			defer cancel()
			_ = h.store.Deregister(last, h.worker) // the heartbeat expires by itself
			return
		case <-ticker.C:
			_ = h.heartbeat(ctx) // Reliable reports a failure
		}
	}
}

// Start sends the first heartbeat. A worker must not claim a step before.
func (h *Heartbeater) Start(ctx context.Context) error { return h.heartbeat(ctx) }

func (h *Heartbeater) heartbeat(ctx context.Context) error {
	err := h.store.Heartbeat(ctx, h.worker)
	now := time.Now()
	s := <-h.uptime
	switch {
	case err != nil:
		s.since = time.Time{}
	case s.since.IsZero() || now.Sub(s.last) > heartbeatTTL: // a gap, even if no heartbeat failed
		s.since = now
	}
	s.last = now
	h.uptime <- s
	return err
}

// Reliable reports whether a missing heartbeat of another worker means that the
// worker is gone. While Redis is unavailable no heartbeat arrives, so the worker's
// own heartbeats must have succeeded for 5 s first.
func (h *Heartbeater) Reliable() bool {
	s := <-h.uptime
	h.uptime <- s
	return !s.since.IsZero() && time.Since(s.last) < heartbeatTTL && time.Since(s.since) > heartbeatTTL
}
