package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"ushuru/pkg/app"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks"
)

// AUTHORITY_PROXY is for the calls to TRA only: pages, which may be anywhere, are
// fetched without it.
func TestOnlyCallsToTRAGoThroughTheProxy(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}} // the request names its target
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Host]++
		mu.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	options := s.workerOptions(tasks.Roles...)
	options.Authority.Proxy = proxy.URL
	s.start(app.Options{Worker: options})
	if got := s.post(s.car(0)); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	authority, err := url.Parse(s.authority.URL)
	must(t, err)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 1 || seen[authority.Host] == 0 {
		t.Errorf("the proxy saw %v, want calls to %s only", seen, authority.Host)
	}
	if strings.Contains(s.site, authority.Host) {
		t.Error("the site and TRA are one host: the test shows nothing")
	}
	calls := 0
	for _, n := range s.authority.Counts().Calls {
		calls += n
	}
	if calls != seen[authority.Host] {
		t.Errorf("TRA got %d calls, %d of them through the proxy", calls, seen[authority.Host])
	}
}
