package cache

import (
	"slices"
	"sync"

	"ushuru/pkg/redisx"
)

// maxRecent bounds the bytes of each of the two generations of recent.
const maxRecent = 4 << 20

// recent remembers what packed results were last unpacked to: unpacking one
// takes longer than reading it from Redis. It is looked up by the packed bytes
// themselves, after they have been read, so it never returns an old result. Its
// memory is bounded: when the young generation is full it becomes the old one,
// and results that are used again move from the old to the young one.
type recent struct {
	mu         sync.Mutex
	young, old map[string][]byte
	size       int // bytes of the young generation
}

// unpack returns what was packed. The caller must not change it.
func (r *recent) unpack(packed []byte) ([]byte, error) {
	r.mu.Lock()
	data, ok := r.young[string(packed)]
	if !ok {
		if data, ok = r.old[string(packed)]; ok {
			r.add(packed, data)
		}
	}
	r.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := redisx.Unpack(packed)
	if err != nil {
		return nil, err
	}
	data = slices.Clip(data) // a caller that appends gets a copy
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(packed, data)
	return data, nil
}

// add adds a result to the young generation.
func (r *recent) add(packed, data []byte) {
	size := len(packed) + len(data)
	if size > maxRecent/8 {
		return // one large result must not displace the others
	}
	if r.young == nil || r.size+size > maxRecent {
		r.old, r.young, r.size = r.young, map[string][]byte{}, 0
	}
	if _, ok := r.young[string(packed)]; !ok {
		r.young[string(packed)], r.size = data, r.size+size
	}
}
