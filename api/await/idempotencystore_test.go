package await

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestRequests(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := requestRecords{conn.Client()}
		begin := func(owner, path, key, identity string) *requestRecord {
			t.Helper()
			r, err := store.begin(t.Context(), owner, path, key, []byte(identity), nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := begin("owner", "/a", "key", "identity")
		if again := begin("owner", "/a", "key", "identity"); first.outcome != "" || again.outcome != "" {
			t.Errorf("an outcome before there was any: %+v", again)
		}
		if got, err := first.setOutcome(t.Context(), "job:1", ""); err != nil || got != "job:1" {
			t.Error(got, err)
		}
		again := begin("owner", "/a", "key", "identity")
		if got, err := again.setOutcome(t.Context(), "job:2", ""); err != nil || got != "job:1" || again.outcome != "job:1" {
			t.Error(got, err, again.outcome)
		}
		if got, err := again.setOutcome(t.Context(), "job:2", "job:1"); err != nil || got != "job:2" {
			t.Errorf("in place of what is over: got %s, %v, want job:2", got, err)
		}
		if _, err := store.begin(t.Context(), "owner", "/a", "key", []byte("other"), nil); !errors.Is(err, errKeyReused) {
			t.Errorf("another request under the key: %v", err)
		}
		for _, other := range [][3]string{{"other", "/a", "key"}, {"owner", "/b", "key"}, {"owner", "/a", "other"}, {"owner /a", "", "key"}} {
			if r := begin(other[0], other[1], other[2], "identity"); r.outcome != "" {
				t.Errorf("%v shares an outcome", other)
			}
		}
	})
}

func TestManyAtOnceGetOneOutcome(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := requestRecords{conn.Client()}
		outcomes := make([]string, 20)
		var all sync.WaitGroup
		for i := range outcomes {
			all.Go(func() {
				r, err := store.begin(t.Context(), "owner", "/a", "key", nil, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if outcomes[i], err = r.setOutcome(t.Context(), strconv.Itoa(i), ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, outcome := range outcomes {
			if outcome != outcomes[0] || outcome == "" {
				t.Fatalf("outcomes %q", outcomes)
			}
		}
	})
}
