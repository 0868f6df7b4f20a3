package cache

import (
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"ushuru/pkg/redisx"
)

const (
	// maxRecent bounds the bytes of recent.
	maxRecent = 8 << 20
	// maxResult bounds those of one result, which must not displace all others.
	maxResult = maxRecent / 16
)

// recent remembers what packed results were last unpacked to: unpacking one
// takes longer than reading it from Redis. It is looked up by the packed bytes
// themselves, after they have been read, so it never returns an old result.
type recent struct {
	mu      sync.Mutex
	results *simplelru.LRU[string, []byte]
	size    int // bytes of the results, packed and unpacked
}

func newRecent() *recent {
	r := &recent{}
	r.results, _ = simplelru.NewLRU(math.MaxInt, func(packed string, data []byte) { // the only error is a size below one
		r.size -= len(packed) + len(data)
	})
	return r
}

// unpack returns what was packed. The caller must not change it.
func (r *recent) unpack(packed []byte) ([]byte, error) {
	r.mu.Lock()
	data, ok := r.results.Get(string(packed))
	r.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := redisx.Unpack(packed)
	if err != nil {
		return nil, err
	}
	data = slices.Clip(data) // a caller that appends gets a copy
	r.add(string(packed), data)
	return data, nil
}

// add remembers a result that is not too large, in place of those that were used longest ago.
func (r *recent) add(packed string, data []byte) {
	size := len(packed) + len(data)
	if size > maxResult {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results.Contains(packed) { // two callers have unpacked it
		return
	}
	r.results.Add(packed, data)
	for r.size += size; r.size > maxRecent; {
		r.results.RemoveOldest()
	}
}
