package cache

import (
	"sync"
	"time"
)

// latest remembers, for at most a minute, what was put last under each key. It is for
// small entries, and bounded by their number.
type latest struct {
	mu    sync.Mutex
	since time.Time
	put   map[Key]string
}

const (
	maxLatest    = 10_000
	latestPeriod = time.Minute
)

// has reports whether the data were put last under the key.
func (l *latest) has(key Key, data []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	put, ok := l.put[key]
	return ok && put == string(data) && time.Since(l.since) < latestPeriod
}

func (l *latest) add(key Key, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.put) >= maxLatest || time.Since(l.since) >= latestPeriod {
		l.put, l.since = map[Key]string{}, time.Now()
	}
	l.put[key] = string(data)
}
