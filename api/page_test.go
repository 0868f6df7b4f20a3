package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ushuru/api"
	"ushuru/pkg/testenv"
)

func TestPagesAreServedOnlyWhenTheyAreOn(t *testing.T) {
	t.Parallel()
	for on, want := range map[bool]string{false: "404 application/json", true: "200 text/html; charset=utf-8"} {
		a := newApp(t, embedded(t), func(o *api.Options) { o.Page.Enabled = on })
		response, err := http.Get(a.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Status[:3] + " " + response.Header.Get("Content-Type"); got != want {
			t.Errorf("on=%t: %s, want %s", on, got, want)
		}
	}
}

// TestVisitorsReachNoEndpointOfKeys sends what a visitor could try: the pages must not
// open the API.
func TestVisitorsReachNoEndpointOfKeys(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Page.Enabled = true })
	for _, path := range []string{"/v1/vehicles", "/v1/batches", "/v1/jobs/1", "/e/../v1/batches", "/static/../../v1/batches"} {
		response, err := http.Get(a.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < http.StatusBadRequest {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	response, err := http.Post(a.URL+"/go", "application/x-www-form-urlencoded", strings.NewReader("u=http://169.254.169.254/"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an address that is not public: %s", response.Status)
	}
}

// TestAThousandVisitorsAtOnce of one network: no more of their work begins than the limit says, and
// one visitor with a cookie has half of that.
func TestAThousandVisitorsAtOnce(t *testing.T) {
	testenv.Long(t)
	const limit = 40
	a := newApp(t, embedded(t), func(o *api.Options) {
		o.Page = api.PageOptions{Enabled: true, Jobs: limit, Rate: 100_000}
	})
	ask := func(address string, n int, cookie func(i int) string) int64 {
		var begun atomic.Int64
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				form := url.Values{"u": {fmt.Sprintf("%s/%s/%d", site, cookie(i), i)}}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/go", strings.NewReader(form.Encode()))
				r.RemoteAddr = address + ":1"
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Cookie", "v="+cookie(i))
				w := httptest.NewRecorder()
				switch a.api.ServeHTTP(w, r); w.Code {
				case http.StatusSeeOther:
					begun.Add(1)
				case http.StatusTooManyRequests:
				default:
					t.Errorf("got %d %.200s, want a page or 429", w.Code, w.Body)
				}
			})
		}
		all.Wait()
		return begun.Load()
	}
	if got := ask("192.0.2.1", 100, func(int) string { return "GREEDYGREEDYGREEDYGREEDYGR" }); got != limit/2 {
		t.Errorf("one visitor: got %d jobs, want %d", got, limit/2)
	}
	if got := ask("192.0.2.2", 1000, func(i int) string { return fmt.Sprintf("VISITOR%019d", i) }); got != limit/2 {
		t.Errorf("a thousand visitors: got %d jobs beside those of the first, want %d", got, limit/2)
	}
	if got := ask("198.51.100.1", 1, func(int) string { return "" }); got != 1 {
		t.Error("a visitor of another network is refused")
	}
}
