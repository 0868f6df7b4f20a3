package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// pollInterval is how often a Hub looks whether what is followed has moved on:
// once for all followers, and not at all while there are none.
const pollInterval = 500 * time.Millisecond

// watching are the records that somebody follows, by name.
type watching struct {
	mu      sync.Mutex
	records map[string]*record
}

// record is a hash in Redis, and what was last seen of it.
type record struct {
	key       string
	fields    []string
	followers int
	seen      string
}

// Watch says on a channel that a job may have moved on or ended, until leave
// is called. What moves it is not said: the record is the truth. A move that
// takes another back at once may go unsaid.
func (h *Hub) Watch(id string) (moved <-chan struct{}, leave func()) {
	// Opening, claiming and completing a step each change how many fields the
	// record has.
	return h.watch(id, keyJob(id), "state")
}

// WatchHash says the same of any hash in Redis: that one of these fields may
// have changed, or how many it has.
func (h *Hub) WatchHash(key string, fields ...string) (moved <-chan struct{}, leave func()) {
	return h.watch(key, key, fields...)
}

func (h *Hub) watch(name, key string, fields ...string) (moved <-chan struct{}, leave func()) {
	told := make(chan struct{}, 1)
	h.subscribe(name, told)
	f := &h.watching
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.records == nil {
		f.records = map[string]*record{}
	}
	if f.records[name] == nil {
		f.records[name] = &record{key: key, fields: fields}
	}
	f.records[name].followers++
	return told, func() {
		h.unsubscribe(name, told)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.records[name].followers--; f.records[name].followers == 0 {
			delete(f.records, name)
		}
	}
}

// poll wakes the followers of the records that have moved on since the last
// look.
func (h *Hub) poll(ctx context.Context) {
	f := &h.watching
	type glance struct {
		name   string
		fields *redis.SliceCmd
		size   *redis.IntCmd
	}
	pipe := h.store.redis.Pipeline()
	f.mu.Lock()
	glances := make([]glance, 0, len(f.records))
	for name, r := range f.records {
		glances = append(glances, glance{name, pipe.HMGet(ctx, r.key, r.fields...), pipe.HLen(ctx, r.key)})
	}
	f.mu.Unlock()
	if len(glances) == 0 {
		return
	}
	_, _ = pipe.Exec(ctx) // each command has its own error; the next look makes up for it
	for _, g := range glances {
		if g.fields.Err() != nil || g.size.Err() != nil {
			continue
		}
		now := fmt.Sprint(g.fields.Val(), g.size.Val())
		f.mu.Lock()
		r := f.records[g.name]
		moved := r != nil && r.seen != now
		if moved {
			r.seen = now
		}
		f.mu.Unlock()
		if moved {
			h.wake(g.name)
		}
	}
}

// pollLoop has a look now and then until ctx ends.
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
