package cache

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// latest remembers, for at most a minute, what was put last under each key. It is for
// small entries, and bounded by their number.
type latest struct{ put *lru.Cache[Key, latestPut] }

// latestPut is what was put, and when.
type latestPut struct {
	data string
	at   time.Time
}

const (
	maxLatest    = 10_000
	latestPeriod = time.Minute
)

func newLatest() *latest {
	put, _ := lru.New[Key, latestPut](maxLatest) // the only error is a size below one
	return &latest{put}
}

// has reports whether the data were put last under the key.
func (l *latest) has(key Key, data []byte) bool {
	last, ok := l.put.Get(key)
	return ok && last.data == string(data) && time.Since(last.at) < latestPeriod
}

func (l *latest) add(key Key, data []byte) { l.put.Add(key, latestPut{string(data), time.Now()}) }
