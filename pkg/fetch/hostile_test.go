package fetch

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are sites that try to keep us busy or to fill our memory. Each must
// end within the client's timeout and leave little in memory, the test's own
// server included.
var hostile = []struct {
	name      string
	robots    http.HandlerFunc // nil: there is none
	page      http.HandlerFunc
	code      string // "" when the page is read all the same
	temporary bool
	slow      bool // it takes the client all its time
}{
	{name: "50 MB after gzip", code: FetchTooLarge, page: packed(50 << 20)},
	{name: "a body a byte at a time", code: FetchTimeout, temporary: true, slow: true, page: drip},
	{
		name: "headers without end", code: FetchFailed, temporary: true,
		page: func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100_000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), "x")
			}
		},
	},
	{
		name: "one header of 1 MB", code: FetchFailed, temporary: true,
		page: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Big", strings.Repeat("x", 1<<20)) },
	},
	{
		name: "a cookie with every redirect", code: FetchFailed,
		page: func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "a" + r.URL.RawQuery, Value: strings.Repeat("x", 4000)})
			http.Redirect(w, r, "/?"+r.URL.RawQuery+"1", http.StatusFound)
		},
	},
	{name: "robots.txt of 100 MB", robots: endless(100 << 20), page: text("ok")},
	{name: "robots.txt of 100 MB after gzip", robots: packed(100 << 20), page: text("ok")},
	{
		name: "robots.txt of nothing but rules", page: text("ok"),
		robots: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\n"+strings.Repeat("Disallow: *a*a*a*a*a*b\n", 1<<20))
		},
	},
	{
		name: "robots.txt of one rule", page: text("ok"),
		robots: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /"+strings.Repeat("*a", maxRobotsSize/2-100)+"b\n")
		},
	},
	{name: "robots.txt a byte at a time", robots: drip, page: text("ok"), code: FetchTimeout, temporary: true, slow: true},
	{
		name: "robots.txt in circles", page: text("ok"),
		robots: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/robots.txt?"+r.URL.RawQuery+"1", http.StatusFound)
		},
	},
}

// drip sends a byte now and then until the reader leaves.
func drip(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, "#")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func endless(size int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, size) }
}

func packed(size int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packer := gzip.NewWriter(w)
		_, _ = io.CopyN(packer, zeros{}, size)
		_ = packer.Close()
	}
}

func TestHostileSitesAreBounded(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			robots := h.robots
			if robots == nil {
				robots = http.NotFound
			}
			url := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					robots(w, r)
					return
				}
				h.page(w, r)
			})
			limit := 30 * time.Second // with the race detector on a busy machine; alone it takes a fraction of one
			if h.slow {
				limit = time.Second
			}
			client := testClient(t, Options{Timeout: limit, MaxBody: 4 << 20})
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := client.Get(t.Context(), url+"/"+strings.Repeat("a", 2000))
			if h.code == "" && err != nil {
				t.Errorf("%v", err)
			}
			if h.code != "" {
				wantCode(t, err, h.code, h.temporary)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 48<<20 {
				t.Errorf("%d MB stay in memory", grown>>20)
			}
		})
	}
}
