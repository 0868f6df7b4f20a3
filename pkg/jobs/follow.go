package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// lookEvery is how often a Hub looks whether the jobs that are followed have
// moved on: once for all of them, and not at all while nobody follows any.
const lookEvery = 500 * time.Millisecond

// following are the jobs that somebody follows, and what was last seen of
// them.
type following struct {
	mu    sync.Mutex
	count map[string]int
	seen  map[string]string
}

// Follow says on a channel that a job may have moved on or ended, until leave
// is called. What moves it is not said: the record is the truth. A move that
// takes another back at once may go unsaid.
func (h *Hub) Follow(id string) (moved <-chan struct{}, leave func()) {
	told := make(chan struct{}, 1)
	h.join(id, told)
	f := &h.following
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == nil {
		f.count, f.seen = map[string]int{}, map[string]string{}
	}
	f.count[id]++
	return told, func() {
		h.leave(id, told)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.count[id]--; f.count[id] == 0 {
			delete(f.count, id)
			delete(f.seen, id)
		}
	}
}

// look wakes the followers of the jobs that have moved on since the last look.
func (h *Hub) look(ctx context.Context) {
	f := &h.following
	f.mu.Lock()
	ids := make([]string, 0, len(f.count))
	for id := range f.count {
		ids = append(ids, id)
	}
	f.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	pipe := h.store.redis.Pipeline()
	states, sizes := make([]*redis.StringCmd, len(ids)), make([]*redis.IntCmd, len(ids))
	for i, id := range ids {
		// Opening, claiming and completing a step each change how many fields
		// the record has.
		states[i], sizes[i] = pipe.HGet(ctx, keyJob(id), "state"), pipe.HLen(ctx, keyJob(id))
	}
	_, _ = pipe.Exec(ctx) // each command has its own error; the next look makes up for it
	for i, id := range ids {
		if sizes[i].Err() != nil {
			continue
		}
		now := fmt.Sprint(states[i].Val(), sizes[i].Val())
		f.mu.Lock()
		_, followed := f.count[id]
		moved := followed && f.seen[id] != now
		if moved {
			f.seen[id] = now
		}
		f.mu.Unlock()
		if moved {
			h.wake(id)
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
