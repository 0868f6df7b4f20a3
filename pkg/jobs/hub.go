package jobs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// recheckInterval is how often a Hub reads the states of the jobs that callers wait for, once for
// all, in case the message that one has ended was lost.
const recheckInterval = 1500 * time.Millisecond

// pollInterval is how often a Hub reads the records that are watched: once for all
// watchers, and not at all while there are none.
const pollInterval = 500 * time.Millisecond

// Hub lets many callers wait for the end of jobs on one subscription, and watch
// jobs and other records with one poll for all of them.
type Hub struct {
	// Refused, if not nil, is called with each message that could not be taken. It is set
	// before Run.
	Refused func(channel string, cause error)

	store    *Store
	mu       sync.Mutex
	subjects map[string]*subject // by job, or key of another record
}

// subject is a job or another record that callers wait for or watch.
type subject struct {
	callers  []chan struct{} // each gets a value when the subject may have changed
	watchers int             // callers for whom the record is polled
	key      string          // of the record, a hash
	fields   []string        // of it that are polled
	seen     string          // at the last poll
}

// NewHub makes a Hub. Its callers are woken only while Run runs.
func NewHub(store *Store) *Hub {
	return &Hub{store: store, subjects: map[string]*subject{}}
}

// Run listens for jobs that end, rechecks those that callers wait for, and polls the watched
// records, until ctx ends.
func (h *Hub) Run(ctx context.Context) {
	var polling sync.WaitGroup
	polling.Go(func() { h.pollLoop(ctx) })
	defer polling.Wait()
	redisx.Listener{
		Client: h.store.redis, Channel: ChannelEnded, Refused: h.Refused,
		Heard: func(id string) error {
			h.wake(id)
			return nil
		},
	}.Run(ctx)
}

// Waiting returns how many callers wait or watch.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, s := range h.subjects {
		n += len(s.callers)
	}
	return n
}

// WaitEnded returns nil once the job has ended or its record is gone, or the error of ctx. It is for
// callers that mostly stop waiting before: it does not read the record at once.
func (h *Hub) WaitEnded(ctx context.Context, id string) error {
	ended, leave := h.Ended(id)
	defer leave()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		}
		if gone, err := h.store.IsOver(ctx, id); err == nil && gone {
			return nil
		}
	}
}

// Ended signals on a channel that a job may have ended or be gone, until leave is called: read its
// record, at once too. The signal comes with each message, and with each recheckInterval in which
// the job has ended.
func (h *Hub) Ended(id string) (ended <-chan struct{}, leave func()) { return h.subscribe(id, "") }

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

func (h *Hub) wake(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.subjects[name]; s != nil {
		s.wake()
	}
}

func (s *subject) wake() {
	for _, caller := range s.callers {
		select {
		case caller <- struct{}{}:
		default:
		}
	}
}

// subscribe returns a channel that gets a value when a subject may have changed, until leave is
// called. Without a key its record is not polled.
func (h *Hub) subscribe(name, key string, fields ...string) (changed chan struct{}, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.subjects[name]
	if s == nil {
		s = &subject{}
		h.subjects[name] = s
	}
	polled := 0
	if key != "" {
		polled, s.key, s.fields = 1, key, fields
	}
	changed = make(chan struct{}, 1)
	s.callers = append(s.callers, changed)
	s.watchers += polled
	return changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.callers = slices.DeleteFunc(s.callers, func(c chan struct{}) bool { return c == changed })
		s.watchers -= polled
		if len(s.callers) == 0 {
			delete(h.subjects, name)
		}
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
