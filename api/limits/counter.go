package limits

import (
	"sync"
)

// Counter counts what is open of each key, such as streams of events.
type Counter struct {
	mu   sync.Mutex
	open map[string]int
}

// Count returns how many there are of all keys.
func (c *Counter) Count() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, open := range c.open {
		n += open
	}
	return n
}

// Acquire counts one more until release. It is false when the key has
// too many.
func (c *Counter) Acquire(key string, limit int) (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key] >= limit {
		return nil, false
	}
	if c.open == nil {
		c.open = map[string]int{}
	}
	c.open[key]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[key]--; c.open[key] == 0 {
			delete(c.open, key)
		}
	}, true
}
