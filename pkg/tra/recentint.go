package tra

import (
	"sync"
	"time"
)

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
