package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// pollInterval is how often a Hub reads the records that are watched: once for all
// watchers, and not at all while there are none.
const pollInterval = 500 * time.Millisecond

// watching holds the records that are watched, by name.
type watching struct {
	mu      sync.Mutex
	records map[string]*record
}

// record is a hash in Redis that is watched.
type record struct {
	key      string
	fields   []string
	watchers int
	seen     string
}

// Watch sends on a channel when a job may have changed or ended, until unsubscribe
// is called. It does not say what has changed: read the record. A change that is
// undone within pollInterval may be missed.
func (h *Hub) Watch(id string) (changes <-chan struct{}, unsubscribe func()) {
	// Opening, claiming and completing a step each change how many fields the
	// record has.
	return h.watch(id, keyJob(id), "state")
}

// WatchHash does the same for any hash in Redis: one of these fields may have
// changed, or the number of fields.
func (h *Hub) WatchHash(key string, fields ...string) (changes <-chan struct{}, unsubscribe func()) {
	return h.watch(key, key, fields...)
}

func (h *Hub) watch(name, key string, fields ...string) (changes <-chan struct{}, unsubscribe func()) {
	changed := make(chan struct{}, 1)
	h.subscribe(name, changed)
	f := &h.watching
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.records == nil {
		f.records = map[string]*record{}
	}
	if f.records[name] == nil {
		f.records[name] = &record{key: key, fields: fields}
	}
	f.records[name].watchers++
	return changed, func() {
		h.unsubscribe(name, changed)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.records[name].watchers--; f.records[name].watchers == 0 {
			delete(f.records, name)
		}
	}
}

// poll wakes the watchers of the records that have changed since the last poll.
func (h *Hub) poll(ctx context.Context) {
	f := &h.watching
	type snapshot struct {
		name   string
		fields *redis.SliceCmd
		size   *redis.IntCmd
	}
	pipe := h.store.redis.Pipeline()
	f.mu.Lock()
	snapshots := make([]snapshot, 0, len(f.records))
	for name, r := range f.records {
		snapshots = append(snapshots, snapshot{name, pipe.HMGet(ctx, r.key, r.fields...), pipe.HLen(ctx, r.key)})
	}
	f.mu.Unlock()
	if len(snapshots) == 0 {
		return
	}
	_, _ = pipe.Exec(ctx) // each command has its own error; the next poll makes up for it
	for _, s := range snapshots {
		if s.fields.Err() != nil || s.size.Err() != nil {
			continue
		}
		now := fmt.Sprint(s.fields.Val(), s.size.Val())
		f.mu.Lock()
		r := f.records[s.name]
		changed := r != nil && r.seen != now
		if changed {
			r.seen = now
		}
		f.mu.Unlock()
		if changed {
			h.wake(s.name)
		}
	}
}

// pollLoop polls at each pollInterval until ctx ends.
func (h *Hub) pollLoop(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.poll(ctx)
		}
	}
}
