package jobs

import (
	"context"
	"time"
)

const (
	beatEvery = time.Second
	// BeatLife is how long a worker counts as alive after its last heartbeat.
	BeatLife = 5 * time.Second
)

func keyWorker(id string) string { return "worker:{" + id + "}" }

// Beat says that a worker is alive.
func (s *Store) Beat(ctx context.Context, worker string) error {
	return s.redis.Set(ctx, keyWorker(worker), "alive", BeatLife).Err()
}

// Alive reports whether a worker has beaten within BeatLife.
func (s *Store) Alive(ctx context.Context, worker string) (bool, error) {
	n, err := s.redis.Exists(ctx, keyWorker(worker)).Result()
	return n > 0, err
}

// Gone takes a worker's heartbeat back at its orderly end, so that nobody has
// to wait for it to run out.
func (s *Store) Gone(ctx context.Context, worker string) error {
	return s.redis.Del(ctx, keyWorker(worker)).Err()
}

// Pulse beats for a worker until ctx ends and knows since when it has done so
// without a gap.
type Pulse struct {
	store  *Store
	worker string
	steady chan steadiness
}

// steadiness is when the last beat was tried, and since when none failed or
// came too late; zero in a gap.
type steadiness struct{ last, since time.Time }

// NewPulse makes a Pulse; Run starts it.
func NewPulse(store *Store, worker string) *Pulse {
	p := &Pulse{store: store, worker: worker, steady: make(chan steadiness, 1)}
	p.steady <- steadiness{}
	return p
}

// Run beats until ctx ends, then takes the heartbeat back. The first beat is
// Begin's.
func (p *Pulse) Run(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatEvery)
			defer cancel()
			_ = p.store.Gone(last, p.worker) // it runs out by itself
			return
		case <-ticker.C:
			_ = p.beat(ctx) // Trusted knows
		}
	}
}

// Begin beats for the first time: a worker must not claim anything before.
func (p *Pulse) Begin(ctx context.Context) error { return p.beat(ctx) }

func (p *Pulse) beat(ctx context.Context) error {
	err := p.store.Beat(ctx, p.worker)
	now := time.Now()
	s := <-p.steady
	switch {
	case err != nil:
		s.since = time.Time{}
	case s.since.IsZero() || now.Sub(s.last) > BeatLife: // a gap, even if nothing failed
		s.since = now
	}
	s.last = now
	p.steady <- s
	return err
}

// Trusted reports whether a missing heartbeat of another worker means that
// the worker is gone. While Redis cannot be reached nobody's heartbeat gets
// through; so one's own must have got through for a whole BeatLife first.
func (p *Pulse) Trusted() bool {
	s := <-p.steady
	p.steady <- s
	return !s.since.IsZero() && time.Since(s.last) < BeatLife && time.Since(s.since) > BeatLife
}
