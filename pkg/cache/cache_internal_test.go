package cache

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"ushuru/pkg/redisx"
)

func TestRecentIsBoundedAndReturnsTheSameBytes(t *testing.T) {
	r := newRecent()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 2000 { // 20 MB, of which it may keep eight
				want := bytes.Repeat(fmt.Appendf(nil, "%d-%d,", worker%2, i), 1000)
				packed := redisx.Pack(want)
				for range 2 {
					got, err := r.unpack(packed)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("unpack = %d bytes, %v; want %d", len(got), err, len(want))
					}
					_ = append(got, "changed"...) // does not change what the next caller gets
				}
			}
		})
	}
	group.Wait()
	size := 0
	for _, packed := range r.results.Keys() {
		data, _ := r.results.Peek(packed)
		size += len(packed) + cap(data)
	}
	if size > maxRecent || size != r.size || r.results.Len() == 0 {
		t.Errorf("%d bytes in %d results, counted as %d; want at most %d", size, r.results.Len(), r.size, maxRecent)
	}
}

func TestRecentKeepsNoLargeResultAndNoDamage(t *testing.T) {
	r := newRecent()
	packed := redisx.Pack(make([]byte, maxRecent))
	if data, err := r.unpack(packed); err != nil || len(data) != maxRecent {
		t.Errorf("unpack = %d bytes, %v", len(data), err)
	}
	if _, err := r.unpack(packed[:len(packed)-1]); err == nil {
		t.Error("damaged bytes were unpacked")
	}
	if r.results.Len() != 0 {
		t.Errorf("%d results are remembered", r.results.Len())
	}
}
