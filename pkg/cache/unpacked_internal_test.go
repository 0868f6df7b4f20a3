package cache

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"ushuru/pkg/redisx"
)

func TestRecentIsBoundedAndReturnsTheSameBytes(t *testing.T) {
	var r recent
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 2000 { // 20 MB, of which it may keep two generations
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
	for name, generation := range map[string]map[string][]byte{"young": r.young, "old": r.old} {
		size := 0
		for packed, data := range generation {
			size += len(packed) + cap(data)
		}
		if size > maxRecent || len(generation) == 0 {
			t.Errorf("the %s generation has %d bytes in %d results, at most %d are allowed", name, size, len(generation), maxRecent)
		}
	}
}

func TestRecentKeepsNoLargeResultAndNoDamage(t *testing.T) {
	var r recent
	packed := redisx.Pack(make([]byte, maxRecent))
	if data, err := r.unpack(packed); err != nil || len(data) != maxRecent {
		t.Errorf("unpack = %d bytes, %v", len(data), err)
	}
	if _, err := r.unpack(packed[:len(packed)-1]); err == nil {
		t.Error("damaged bytes were unpacked")
	}
	if len(r.young)+len(r.old) != 0 {
		t.Errorf("%d results are remembered", len(r.young)+len(r.old))
	}
}
