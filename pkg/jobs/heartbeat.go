package jobs

import (
	"context"
	"time"
)

const (
	heartbeatInterval = time.Second
	// HeartbeatTTL is how long a worker counts as alive after its last heartbeat.
	HeartbeatTTL = 5 * time.Second
)

func keyWorker(id string) string { return "worker:{" + id + "}" }

// Heartbeat says that a worker is alive.
func (s *Store) Heartbeat(ctx context.Context, worker string) error {
	return s.redis.Set(ctx, keyWorker(worker), "alive", HeartbeatTTL).Err()
}

// Alive reports whether a worker has beaten within BeatLife.
func (s *Store) Alive(ctx context.Context, worker string) (bool, error) {
	n, err := s.redis.Exists(ctx, keyWorker(worker)).Result()
	return n > 0, err
}

// Deregister takes a worker's heartbeat back at its orderly end, so that nobody has
// to wait for it to run out.
func (s *Store) Deregister(ctx context.Context, worker string) error {
	return s.redis.Del(ctx, keyWorker(worker)).Err()
}

// Heartbeater beats for a worker until ctx ends and knows since when it has done so
// without a gap.
type Heartbeater struct {
	store  *Store
	worker string
	uptime chan uptime
}

// uptime is when the last beat was tried, and since when none failed or
// came too late; zero in a gap.
type uptime struct{ last, since time.Time }

// NewHeartbeater makes a Pulse; Run starts it.
func NewHeartbeater(store *Store, worker string) *Heartbeater {
	p := &Heartbeater{store: store, worker: worker, uptime: make(chan uptime, 1)}
	p.uptime <- uptime{}
	return p
}

// Run beats until ctx ends, then takes the heartbeat back. The first beat is
// Begin's.
func (p *Heartbeater) Run(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatInterval)
			defer cancel()
			_ = p.store.Deregister(last, p.worker) // it runs out by itself
			return
		case <-ticker.C:
			_ = p.heartbeat(ctx) // Trusted knows
		}
	}
}

// Start beats for the first time: a worker must not claim anything before.
func (p *Heartbeater) Start(ctx context.Context) error { return p.heartbeat(ctx) }

func (p *Heartbeater) heartbeat(ctx context.Context) error {
	err := p.store.Heartbeat(ctx, p.worker)
	now := time.Now()
	s := <-p.uptime
	switch {
	case err != nil:
		s.since = time.Time{}
	case s.since.IsZero() || now.Sub(s.last) > HeartbeatTTL: // a gap, even if nothing failed
		s.since = now
	}
	s.last = now
	p.uptime <- s
	return err
}

// Reliable reports whether a missing heartbeat of another worker means that
// the worker is gone. While Redis cannot be reached nobody's heartbeat gets
// through; so one's own must have got through for a whole BeatLife first.
func (p *Heartbeater) Reliable() bool {
	s := <-p.uptime
	p.uptime <- s
	return !s.since.IsZero() && time.Since(s.last) < HeartbeatTTL && time.Since(s.since) > HeartbeatTTL
}
