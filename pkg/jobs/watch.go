package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// pollInterval is how often a Hub reads the records that are watched: once for all
// watchers, and not at all while there are none.
const pollInterval = 500 * time.Millisecond

// Watch sends on a channel when a job may have changed or ended, until unsubscribe
// is called. It does not say what has changed: read the record. A change that is
// undone within pollInterval may be missed.
func (h *Hub) Watch(id string) (changes <-chan struct{}, unsubscribe func()) {
	// Opening, claiming and completing a step each change how many fields the
	// record has.
	return h.subscribe(id, keyJob(id), "state")
}

// WatchHash does the same for any hash in Redis: one of these fields may have
// changed, or the number of fields.
func (h *Hub) WatchHash(key string, fields ...string) (changes <-chan struct{}, unsubscribe func()) {
	return h.subscribe(key, key, fields...)
}

// poll wakes the watchers of the records that have changed since the last poll.
func (h *Hub) poll(ctx context.Context) {
	type snapshot struct {
		subject *subject
		values  *redis.SliceCmd
		size    *redis.IntCmd
	}
	var snapshots []snapshot
	pipe := h.store.redis.Pipeline()
	h.mu.Lock()
	for _, s := range h.subjects {
		if s.watchers > 0 {
			snapshots = append(snapshots, snapshot{s, pipe.HMGet(ctx, s.key, s.fields...), pipe.HLen(ctx, s.key)})
		}
	}
	h.mu.Unlock()
	if len(snapshots) == 0 {
		return
	}
	_, _ = pipe.Exec(ctx) // each command has its own error; the next poll makes up for it
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range snapshots {
		now := fmt.Sprint(s.values.Val(), s.size.Val())
		if s.values.Err() != nil || s.size.Err() != nil || s.subject.seen == now {
			continue
		}
		s.subject.seen = now
		s.subject.wake()
	}
}

// recheck wakes the callers who wait for jobs that have ended or are gone.
func (h *Hub) recheck(ctx context.Context) {
	var ids []string
	h.mu.Lock()
	for name, s := range h.subjects {
		if len(s.callers) > s.watchers {
			ids = append(ids, name)
		}
	}
	h.mu.Unlock()
	gone, _ := h.store.ListEnded(ctx, ids) // the next recheck makes up for an error
	for _, id := range gone {
		h.wake(id)
	}
}

// pollLoop polls and rechecks at each interval until ctx ends.
func (h *Hub) pollLoop(ctx context.Context) {
	poll, recheck := time.NewTicker(pollInterval), time.NewTicker(recheckInterval)
	defer poll.Stop()
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			h.poll(ctx)
		case <-recheck.C:
			h.recheck(ctx)
		}
	}
}
