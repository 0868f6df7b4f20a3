package await

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"ushuru/api/request"
	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// begin begins a request of an owner to a path under a key.
func begin(t *testing.T, conn *redisx.Conn, owner, path, key, identity string) (*Idempotent, error) {
	t.Helper()
	work := New(Options{Redis: conn.Client(), Limits: NewLimits(LimitOptions{Bytes: pace.NewAccounts(conn.Client(), pace.KindBytes)})})
	plain := (&http.Request{URL: &url.URL{Path: path}}).WithContext(t.Context())
	return work.Begin(httptest.NewRecorder(), &request.Request{Request: plain, Key: keys.Key{ID: owner}, IdempotencyKey: key}, identity)
}

func TestTheSameRequestHasTheOutcomeThatWasSetFirst(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		same := func(owner, path, key string) *Idempotent {
			t.Helper()
			r, err := begin(t, conn, owner, path, key, "identity")
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := same("owner", "/a", "key")
		if again := same("owner", "/a", "key"); first.outcome != "" || again.outcome != "" {
			t.Errorf("got %+v, want no outcome before there was any", again)
		}
		if got, err := first.SetOutcome(t.Context(), "job", "1"); err != nil || got != "1" {
			t.Errorf("the first: got %s, %v, want 1", got, err)
		}
		again := same("owner", "/a", "key")
		if got, err := again.SetOutcome(t.Context(), "job", "2"); err != nil || got != "1" || again.outcome != "job:1" {
			t.Errorf("the second: got %s, %v, want 1", got, err)
		}
		if got, err := again.SetOutcome(t.Context(), "cached", "3"); err != nil || got != "" {
			t.Errorf("of another kind: got %s, %v, want none", got, err)
		}
		if got, err := again.replaceOutcome(t.Context(), "job", "2", "job:1"); err != nil || got != "2" {
			t.Errorf("in place of what is over: got %s, %v, want 2", got, err)
		}
		if _, err := begin(t, conn, "owner", "/a", "key", "other"); codeOf(err) != "idempotency_key_reused" {
			t.Errorf("another request under the key: got %v, want idempotency_key_reused", err)
		}
		for _, other := range [][3]string{{"other", "/a", "key"}, {"owner", "/b", "key"}, {"owner", "/a", "other"}, {"owner /a", "", "key"}} {
			if r := same(other[0], other[1], other[2]); r.outcome != "" {
				t.Errorf("%v: got the outcome %s, want none", other, r.outcome)
			}
		}
	})
}

func TestManyAtOnceGetOneOutcome(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		outcomes := make([]string, 20)
		var all sync.WaitGroup
		for i := range outcomes {
			all.Go(func() {
				r, err := begin(t, conn, "owner", "/a", "key", "")
				if err != nil {
					t.Error(err)
					return
				}
				if outcomes[i], err = r.SetOutcome(t.Context(), "job", strconv.Itoa(i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, outcome := range outcomes {
			if outcome != outcomes[0] || outcome == "" {
				t.Fatalf("got the outcomes %q, want one", outcomes)
			}
		}
	})
}
