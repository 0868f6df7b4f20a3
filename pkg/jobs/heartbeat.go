package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

const (
	heartbeatInterval = time.Second
	// heartbeatTTL is how long a worker counts as alive after its last heartbeat.
	heartbeatTTL = 5 * time.Second
)

func keyWorker(id string) string { return "worker:{" + id + "}" }

const (
	keyLive = "workers:live" // sorted set: the ids of workers by their last heartbeat
	keySeen = "workers:seen" // hash: when a worker of a role last sent a heartbeat
	// deadAfter is how long a worker stays in the set without a heartbeat.
	deadAfter = time.Minute
)

// Presence is what a worker says of itself with each heartbeat.
type Presence struct {
	Roles   []string  `json:"roles"`
	Version string    `json:"version,omitempty"`
	Started time.Time `json:"started"`

	// Of the AI, when the worker has one: its models in order of preference, and the
	// tokens a day of all workers; 0 is no limit.
	Models      []string `json:"models,omitempty"`
	DailyTokens int64    `json:"dailyTokens,omitempty"`

	// Overdue are the types of the tasks whose handlers have not ended though their time was up.
	Overdue []string `json:"overdue,omitempty"`
	// AllowVolatile says that Redis may be one that keeps no append-only file.
	AllowVolatile bool `json:"allowVolatile,omitempty"`
}

// Rider adds commands to the pipeline of a heartbeat. settled is called when that was
// executed.
type Rider func(ctx context.Context, pipe redis.Pipeliner) (settled func())

// Heartbeat records that a worker is alive, in one round trip with what the rider
// adds; nil adds nothing.
func (s *Store) Heartbeat(ctx context.Context, worker string, is Presence, rider Rider) error {
	value, err := json.Marshal(is)
	if err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	pipe := s.redis.Pipeline()
	beat := pipe.Set(ctx, keyWorker(worker), value, heartbeatTTL)
	pipe.ZAdd(ctx, keyLive, redis.Z{Score: float64(now), Member: worker})
	seen := make([]any, 0, 2*len(is.Roles))
	for _, role := range is.Roles {
		seen = append(seen, role, now)
	}
	if len(seen) > 0 {
		pipe.HSet(ctx, keySeen, seen...)
	}
	if rider != nil {
		defer rider(ctx, pipe)()
	}
	_, _ = pipe.Exec(ctx) // what else is refused must not make the worker look dead
	return beat.Err()
}

// Worker is a worker that is alive.
type Worker struct {
	Presence

	ID       string    `json:"id"`
	LastBeat time.Time `json:"lastBeat"`
}

// Workers returns the workers that have sent a heartbeat in the last 5 s, and when one
// of each role last did.
func (s *Store) Workers(ctx context.Context) (alive []Worker, seen map[string]time.Time, err error) {
	first := s.redis.Pipeline()
	listed, roles := first.ZRangeWithScores(ctx, keyLive, 0, -1), first.HGetAll(ctx, keySeen)
	if _, err := first.Exec(ctx); err != nil {
		return nil, nil, fmt.Errorf("jobs: workers: %w", err)
	}
	values, err := redisx.Each(ctx, s.redis, listed.Val(), func(pipe redis.Pipeliner, entry redis.Z) *redis.StringCmd {
		id, _ := entry.Member.(string)
		return pipe.Get(ctx, keyWorker(id))
	})
	if err != nil {
		return nil, nil, fmt.Errorf("jobs: workers: %w", err)
	}
	for i, entry := range listed.Val() {
		id, _ := entry.Member.(string)
		w := Worker{ID: id, LastBeat: time.UnixMilli(int64(entry.Score)).UTC()}
		if values[i].Err() == nil && json.Unmarshal([]byte(values[i].Val()), &w.Presence) == nil {
			alive = append(alive, w)
		}
	}
	seen = make(map[string]time.Time, len(roles.Val()))
	for role, at := range roles.Val() {
		seen[role] = millis(at)
	}
	return alive, seen, nil
}

// Alive reports whether a worker has sent a heartbeat in the last 5 s.
func (s *Store) Alive(ctx context.Context, worker string) (bool, error) {
	n, err := s.redis.Exists(ctx, keyWorker(worker)).Result()
	return n > 0, err
}

// Deregister deletes the heartbeat of a worker that stops, so that its steps are
// recovered before its heartbeat expires.
func (s *Store) Deregister(ctx context.Context, worker string, rider Rider) error {
	pipe := s.redis.Pipeline()
	deleted := pipe.Del(ctx, keyWorker(worker))
	pipe.ZRem(ctx, keyLive, worker)
	if rider != nil {
		defer rider(ctx, pipe)()
	}
	_, _ = pipe.Exec(ctx)
	return deleted.Err()
}

// Heartbeater sends the heartbeats of a worker until ctx ends, and knows since
// when it has done so without a gap.
type Heartbeater struct {
	store  *Store
	worker string
	is     func() Presence
	rider  Rider
	uptime chan uptime
}

// uptime is when the last heartbeat was tried, and since when all have succeeded
// in time; zero after a gap.
type uptime struct{ last, since time.Time }

// NewHeartbeater makes a Heartbeater, whose heartbeats take along what the rider adds.
// Call Start, then Run.
func NewHeartbeater(store *Store, worker string, is func() Presence, rider Rider) *Heartbeater {
	h := &Heartbeater{store: store, worker: worker, is: is, rider: rider, uptime: make(chan uptime, 1)}
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
			_ = h.store.Deregister(last, h.worker, h.rider) // the heartbeat expires by itself
			return
		case <-ticker.C:
			_ = h.heartbeat(ctx) // Reliable reports a failure
		}
	}
}

// Start sends the first heartbeat. A worker must not claim a step before.
func (h *Heartbeater) Start(ctx context.Context) error {
	dead := strconv.FormatInt(time.Now().Add(-deadAfter).UnixMilli(), 10)
	if err := h.store.redis.ZRemRangeByScore(ctx, keyLive, "-inf", dead).Err(); err != nil {
		return err
	}
	return h.heartbeat(ctx)
}

func (h *Heartbeater) heartbeat(ctx context.Context) error {
	err := h.store.Heartbeat(ctx, h.worker, h.is(), h.rider)
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
