package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// lookEvery is how often a Hub looks whether what is followed has moved on:
// once for all followers, and not at all while there are none.
const lookEvery = 500 * time.Millisecond

// following are the records that somebody follows, by name.
type following struct {
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

// Follow says on a channel that a job may have moved on or ended, until leave
// is called. What moves it is not said: the record is the truth. A move that
// takes another back at once may go unsaid.
func (h *Hub) Follow(id string) (moved <-chan struct{}, leave func()) {
	// Opening, claiming and completing a step each change how many fields the
	// record has.
	return h.follow(id, keyJob(id), "state")
}

// FollowHash says the same of any hash in Redis: that one of these fields may
// have changed, or how many it has.
func (h *Hub) FollowHash(key string, fields ...string) (moved <-chan struct{}, leave func()) {
	return h.follow(key, key, fields...)
}

func (h *Hub) follow(name, key string, fields ...string) (moved <-chan struct{}, leave func()) {
	told := make(chan struct{}, 1)
	h.join(name, told)
	f := &h.following
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
		h.leave(name, told)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.records[name].followers--; f.records[name].followers == 0 {
			delete(f.records, name)
		}
	}
}

// look wakes the followers of the records that have moved on since the last
// look.
func (h *Hub) look(ctx context.Context) {
	f := &h.following
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

// looks has a look now and then until ctx ends.
func (h *Hub) looks(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.look(ctx)
		}
	}
}
