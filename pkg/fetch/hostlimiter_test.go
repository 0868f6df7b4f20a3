package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestProcessesShareThePaceOfASite(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		url := serve(t, func(http.ResponseWriter, *http.Request) {})
		one := testClient(t, Options{Redis: conn.Client(), Rate: 1})
		other := testClient(t, Options{Redis: conn.Client(), Rate: 1})
		for i, client := range []*Client{one, other, one} { // the burst
			if _, err := client.Get(t.Context(), url); err != nil {
				t.Fatalf("page %d: %v", i, err)
			}
		}
		_, err := other.Get(t.Context(), url)
		failure := wantCode(t, err, HostBusy, true)
		if wait := failure.Wait; wait <= 0 || wait > time.Second {
			t.Errorf("come again in %v", wait)
		}
		if _, err := other.Get(t.Context(), serve(t, func(http.ResponseWriter, *http.Request) {})); err != nil {
			t.Errorf("another site: %v", err)
		}
	})
}

func TestBulkLeavesRoomForAPerson(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		url := serve(t, func(http.ResponseWriter, *http.Request) {})
		client := testClient(t, Options{Redis: conn.Client(), Rate: 1})
		if _, err := client.Fetch(t.Context(), Request{URL: url, Bulk: true}); err != nil {
			t.Fatal(err)
		}
		longest := time.Duration(0)
		for range 50 {
			_, err := client.Fetch(t.Context(), Request{URL: url, Bulk: true})
			longest = max(longest, wantCode(t, err, HostBusy, true).Wait)
		}
		if longest < 5*time.Second || longest > maxJitter+time.Second {
			t.Errorf("of 50 that wait, the last comes again in %v", longest)
		}
		if _, err := client.Get(t.Context(), url); err != nil {
			t.Errorf("a person: %v", err)
		}
	})
}

func TestASiteThatRefusesIsLeftAloneByAll(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for _, c := range []struct {
			name, after string
			status      int
			least, most time.Duration // of the pause; 0: none
		}{
			{"429 with Retry-After", "30", 429, 29 * time.Second, 30 * time.Second},
			{"429 without", "", 429, pauseTooMany - time.Second, pauseTooMany},
			{"503 with Retry-After", "7", 503, 6 * time.Second, 7 * time.Second},
			{"503 without", "", 503, pauseUnavailable - time.Second, pauseUnavailable},
			{"a day", "86400", 429, maxPause - time.Second, maxPause},
			{"200 with Retry-After", "30", 200, 0, 0},
			{"404", "", 404, 0, 0},
			{"500", "", 500, 0, 0},
		} {
			var asked atomic.Int32
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Retry-After", c.after)
				w.WriteHeader(c.status)
			})
			page, err := testClient(t, Options{Redis: conn.Client()}).Get(t.Context(), url)
			if err != nil || page.Status != c.status {
				t.Fatalf("%s: %+v, %v", c.name, page, err)
			}
			_, err = testClient(t, Options{Redis: conn.Client()}).Get(t.Context(), url+"/other")
			if c.most == 0 {
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			if wait := wantCode(t, err, HostBusy, true).Wait; wait < c.least || wait > c.most || asked.Load() != 1 {
				t.Errorf("%s: come again in %v; asked %d times", c.name, wait, asked.Load())
			}
		}
	})
}

func TestAShorterPauseDoesNotEndALongerOne(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		l := newHostLimiter(conn.Client(), 0)
		for _, after := range []string{"50", "3"} {
			l.pause(t.Context(), "www.example.com", &Page{Status: 429, Header: http.Header{"Retry-After": {after}}})
		}
		err := l.allow(t.Context(), "www.example.com", false)
		if wait := wantCode(t, err, HostBusy, true).Wait; wait < 45*time.Second {
			t.Errorf("%v", wait)
		}
	})
}

func TestARedirectToAnotherSiteWaitsInItsLine(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	var asked atomic.Int32
	target := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
	client := testClient(t, Options{Redis: conn.Client()})
	host := strings.TrimPrefix(target, "http://")
	client.limiter.pause(t.Context(), host, &Page{Status: 503, Header: http.Header{"Retry-After": {"9"}}})
	_, err := client.Get(t.Context(), url)
	if wantCode(t, err, HostBusy, true); asked.Load() != 0 {
		t.Error("it was asked")
	}
}

// A Redis that does not answer must neither hang a fetch nor let it through.
func TestWithoutRedisAFetchFailsClearly(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dead := httptest.NewServer(nil)
	dead.Close()
	for name, address := range map[string]string{"silent": silent.Addr().String(), "dead": strings.TrimPrefix(dead.URL, "http://")} {
		asked := false
		url := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
		away := redis.NewClient(&redis.Options{Addr: address, ContextTimeoutEnabled: true})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := testClient(t, Options{Redis: away, Rate: 1}).Get(ctx, url)
		if wantCode(t, err, FetchFailed, true); asked || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("%s: asked %v, %v", name, asked, ctx.Err())
		}
		cancel()
		_ = away.Close()
	}
}

// The pace of a site is that of its last pages, over all processes; it is not known of one page,
// and says whether batches wait and the site pauses.
func TestThePaceOfASiteIsMeasured(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		url := serve(t, func(http.ResponseWriter, *http.Request) {})
		host := strings.TrimPrefix(url, "http://")
		client := testClient(t, Options{Redis: conn.Client(), Rate: 1})
		pace := func() Pace {
			t.Helper()
			paces, err := PacesOf(t.Context(), conn.Client(), host, "other.example")
			if err != nil || paces["other.example"] != (Pace{}) {
				t.Fatalf("%v, %v", paces, err)
			}
			return paces[host]
		}
		for i := range burst {
			if _, err := client.Get(t.Context(), url); err != nil {
				t.Fatal(err)
			}
			if got := pace(); i == 0 && got != (Pace{}) || i > 0 && (got.PerSecond <= 1 || got.Delayed) {
				t.Errorf("after %d pages at once: %+v", i+1, got)
			}
		}
		if _, err := client.Fetch(t.Context(), Request{URL: url, Bulk: true}); err == nil {
			t.Fatal("a batch got a page beyond the rate")
		}
		client.limiter.pause(t.Context(), host, &Page{Status: 503, Header: http.Header{"Retry-After": {"9"}}})
		if got := pace(); !got.Delayed || got.Pause < 8*time.Second {
			t.Errorf("delayed and paused: %+v", got)
		}
		// A host without pages, whose reply is nil, does not hide the error of a later one.
		if err := conn.Client().Set(t.Context(), keyPages(host), "no list", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if paces, err := PacesOf(t.Context(), conn.Client(), "other.example", host); err == nil {
			t.Errorf("a reply that is an error: got %v, want the error", paces)
		}
	})
}
