package tra

import (
	"sync"
	"time"
)

// maxLists bounds the lists in memory: a few hundred bytes each.
const maxLists = 8192

// listMemory keeps lists of the authority in the memory of the process, so that an
// estimate of a label that was seen before reads none of them from Redis. A list is
// as fresh as in Redis: its freshness is decided when it is read. It is safe for
// concurrent use.
type listMemory struct {
	mu    sync.Mutex
	lists map[string]any // by key: a stored[[]int] or stored[[]string]; a time.Time of a calculation
}

func (m *listMemory) put(key string, value any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists == nil {
		m.lists = map[string]any{}
	}
	if _, known := m.lists[key]; !known && len(m.lists) >= maxLists {
		for other := range m.lists { // any: it is read again from Redis
			delete(m.lists, other)
			break
		}
	}
	m.lists[key] = value
}

func (m *listMemory) get(key string) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists[key]
}

// refreshInterval is how old the period and the version of the catalogue in the
// memory of a process may be.
const refreshInterval = time.Second

// recentInt is an integer in Redis as it was at most refreshInterval ago. It is safe
// for concurrent use.
type recentInt struct {
	mu    sync.Mutex
	value int64
	read  time.Time
}

// get returns the value; ok is false when it must be read again.
func (r *recentInt) get() (value int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value, !r.read.IsZero() && time.Since(r.read) < refreshInterval
}

// last returns the value however old it is.
func (r *recentInt) last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

// set stores a value that was read or written at a time.
func (r *recentInt) set(value int64, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.After(r.read) {
		r.value, r.read = value, at
	}
}

// raise stores a value that is higher than the one in memory.
func (r *recentInt) raise(value int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value = max(r.value, value)
}
