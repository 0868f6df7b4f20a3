package api_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/pace"
)

// randomPage is a page that does not shrink when it is packed.
func randomPage(size int) string {
	page := make([]byte, size/2)
	_, _ = rand.Read(page)
	return hex.EncodeToString(page)
}

// TestBytesPerKey: what is kept is bounded, and an upload counts until its job ends.
func TestBytesPerKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.Bytes = 1 << 20 })
	send := func(path, page string) answer {
		t.Helper()
		r := a.request(t, http.MethodPost, "/v1/estimate", sent(path, page))
		r.Header.Set("Prefer", "respond-async")
		return a.send(t, r)
	}
	first := send("/one", randomPage(600<<10))
	var used, limit int64
	if _, err := fmt.Sscanf(first.header.Get("Key-Bytes"), "used=%d, limit=%d", &used, &limit); err != nil ||
		first.status != http.StatusAccepted || used < 600<<10 || used > 620<<10 || limit != 1<<20 {
		t.Fatalf("%d %q %v", first.status, first.header.Get("Key-Bytes"), err)
	}
	second := send("/two", randomPage(600<<10))
	if second.status != http.StatusTooManyRequests || !strings.Contains(second.body, `"too_many_bytes"`) || second.header.Get("Retry-After") == "" {
		t.Errorf("a second page: %d %s", second.status, second.body)
	}
	if got := send("/three", randomPage(2<<20)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a page above the limit: %d %s", got.status, got.body)
	}
	if got := a.send(t, a.request(t, http.MethodDelete, first.header.Get("Location"), "")); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := send("/two", randomPage(600<<10)); got.status != http.StatusAccepted {
		t.Errorf("after the first has ended: %d %s", got.status, got.body)
	}
	keys, err := a.keys.List(t.Context())
	if err != nil || len(keys) == 0 {
		t.Fatal(err)
	}
	account, err := pace.NewAccounts(a.conn.Client(), pace.KindBytes).Read(t.Context(), pace.Holder{Whole: keys[0].ID})
	if err != nil || account.Used < 600<<10 || account.Used > 650<<10 || account.Limit != 1<<20 || time.Until(account.Free) > time.Hour {
		t.Errorf("%+v, %v", account, err)
	}
}
