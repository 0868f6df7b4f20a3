package idempotency_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"ushuru/pkg/idempotency"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestRequests(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := idempotency.NewStore(conn.Client())
		begin := func(owner, path, key, identity string) *idempotency.Request {
			t.Helper()
			r, err := store.Begin(t.Context(), owner, path, key, []byte(identity), nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := begin("owner", "/a", "key", "identity")
		if again := begin("owner", "/a", "key", "identity"); first.Outcome != "" || again.Outcome != "" {
			t.Errorf("an outcome before there was any: %+v", again)
		}
		if got, err := first.SetOutcome(t.Context(), "job:1"); err != nil || got != "job:1" {
			t.Error(got, err)
		}
		again := begin("owner", "/a", "key", "identity")
		if got, err := again.SetOutcome(t.Context(), "job:2"); err != nil || got != "job:1" || again.Outcome != "job:1" {
			t.Error(got, err, again.Outcome)
		}
		if _, err := store.Begin(t.Context(), "owner", "/a", "key", []byte("other"), nil); !errors.Is(err, idempotency.ErrReused) {
			t.Errorf("another request under the key: %v", err)
		}
		for _, other := range [][3]string{{"other", "/a", "key"}, {"owner", "/b", "key"}, {"owner", "/a", "other"}, {"owner /a", "", "key"}} {
			if r := begin(other[0], other[1], other[2], "identity"); r.Outcome != "" {
				t.Errorf("%v shares an outcome", other)
			}
		}
	})
}

func TestManyAtOnceGetOneOutcome(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := idempotency.NewStore(conn.Client())
		outcomes := make([]string, 20)
		var all sync.WaitGroup
		for i := range outcomes {
			all.Go(func() {
				r, err := store.Begin(t.Context(), "owner", "/a", "key", nil, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if outcomes[i], err = r.SetOutcome(t.Context(), strconv.Itoa(i)); err != nil {
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
