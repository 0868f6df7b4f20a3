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
	steady chan time.Time // holds the time of the first beat without a gap since; zero in a gap
}

// NewPulse makes a Pulse; Run starts it.
func NewPulse(store *Store, worker string) *Pulse {
	p := &Pulse{store: store, worker: worker, steady: make(chan time.Time, 1)}
	p.steady <- time.Time{}
	return p
}

// Run beats until ctx ends, then takes the heartbeat back.
func (p *Pulse) Run(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		p.beat(ctx)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatEvery)
			defer cancel()
			_ = p.store.Gone(last, p.worker) // it runs out by itself
			return
		case <-ticker.C:
		}
	}
}

func (p *Pulse) beat(ctx context.Context) {
	err := p.store.Beat(ctx, p.worker)
	since := <-p.steady
	switch {
	case err != nil:
		since = time.Time{}
	case since.IsZero():
		since = time.Now()
	}
	p.steady <- since
}

// Trusted reports whether a missing heartbeat of another worker means that
// the worker is gone. While Redis cannot be reached nobody's heartbeat gets
// through; so one's own must have got through for a whole BeatLife first.
func (p *Pulse) Trusted() bool {
	since := <-p.steady
	p.steady <- since
	return !since.IsZero() && time.Since(since) > BeatLife
}
