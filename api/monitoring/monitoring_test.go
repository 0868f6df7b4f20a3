package monitoring

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/redisx/redistest"
)

const operator, password = "operator", "correct horse"

// newMonitoring serves Asynqmon of an empty Redis.
func newMonitoring(t *testing.T, writable bool) http.Handler {
	t.Helper()
	s, err := New(Options{
		Redis: redistest.Embedded(t).AsynqOpt(), User: operator, Password: password, Writable: writable,
		Address: func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() },
		Log:     slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	router := mux.NewRouter()
	s.Register(router)
	return router
}

// ask sends a request; change gives it a login.
func ask(t *testing.T, h http.Handler, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	change(r)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// from logs in as the operator, from a site as browsers say it.
func from(site string) func(*http.Request) {
	return func(r *http.Request) {
		r.SetBasicAuth(operator, password)
		r.Header.Set("Sec-Fetch-Site", site)
	}
}

func TestEveryPageNeedsALogin(t *testing.T) {
	t.Parallel()
	h := newMonitoring(t, false)
	for i, path := range []string{"/monitoring", "/monitoring/", "/monitoring/api/queues", "/monitoring/static/js/none.js"} {
		for j, given := range []string{"", "x:" + password, operator + ":x", operator + ":", password + ":" + operator, "Bearer"} {
			w := ask(t, h, http.MethodGet, path, func(r *http.Request) {
				r.RemoteAddr = fmt.Sprintf("192.0.%d.1:1", 10*i+j+1)
				if user, secret, ok := strings.Cut(given, ":"); ok {
					r.SetBasicAuth(user, secret)
				} else if given != "" {
					r.Header.Set("Authorization", given+" "+strings.Repeat("x", 30))
				}
			})
			if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `"code":"login_required"`) || w.Header().Get("WWW-Authenticate") != `Basic realm="Ushuru operators", charset="UTF-8"` {
				t.Errorf("%s with %q: got %d %v %s", path, given, w.Code, w.Header(), w.Body)
			}
		}
	}
	if w := ask(t, h, http.MethodGet, "/monitoringx", from("none")); w.Code != http.StatusNotFound {
		t.Errorf("its name alone: got %d", w.Code)
	}
}

func TestItIsReadOnlyUnlessWritable(t *testing.T) {
	t.Parallel()
	const pause = "/monitoring/api/queues/any:pause"
	for _, c := range []struct {
		writable           bool
		method, path, site string
		refused            int // 0 for a request that Asynqmon answers
	}{
		{false, http.MethodGet, "/monitoring", "none", 0},
		{false, http.MethodGet, "/monitoring/api/queues", "none", 0},
		{false, http.MethodPost, pause, "same-origin", http.StatusMethodNotAllowed},
		{false, http.MethodPost, pause, "cross-site", http.StatusForbidden},
		{true, http.MethodPost, pause, "same-origin", 0},
		{true, http.MethodPost, pause, "cross-site", http.StatusForbidden},
		{true, http.MethodDelete, "/monitoring/api/queues/any", "same-site", http.StatusForbidden},
		{true, http.MethodGet, "/monitoring/api/queues", "cross-site", 0},
	} {
		w := ask(t, newMonitoring(t, c.writable), c.method, c.path, from(c.site))
		answered := w.Code != http.StatusMethodNotAllowed && w.Code != http.StatusForbidden && w.Code != http.StatusUnauthorized
		if c.refused == 0 && !answered || c.refused != 0 && w.Code != c.refused {
			t.Errorf("writable %v, %s %s from %s: got %d %.200s, want %d", c.writable, c.method, c.path, c.site, w.Code, w.Body, c.refused)
		}
	}
}

// TestThePolicyFitsThePage has every script of the page admitted by name or by digest, and
// nothing else.
func TestThePolicyFitsThePage(t *testing.T) {
	t.Parallel()
	w := ask(t, newMonitoring(t, true), http.MethodGet, "/monitoring/queues/any", from("none"))
	policy := w.Header().Get("Content-Security-Policy")
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(w.Body.String(), -1)
	if len(scripts) != 2 || strings.Count(w.Body.String(), "<script src=\"/monitoring/static/js/") != 2 {
		t.Fatalf("the page has other scripts than it had:\n%.3000s", w.Body)
	}
	for _, script := range scripts {
		digest := sha256.Sum256([]byte(script[1]))
		if want := "'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	if regexp.MustCompile(`script-src [^;]*'unsafe`).MatchString(policy) || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("the policy is too wide: %s", policy)
	}
}

func TestItNeedsAUserAndARedis(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{Redis: redistest.Embedded(t).AsynqOpt(), Password: password}); err == nil {
		t.Error("made without a user")
	}
	if _, err := New(Options{User: operator, Password: password}); err == nil {
		t.Error("made without a Redis")
	}
}

// TestGuessesAreBoundedByNetwork: those of a thousand networks keep nobody out, and those of one
// are at most 65 in an hour, however many are sent at once.
func TestGuessesAreBoundedByNetwork(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	l := newLogins(func() time.Time { return now })
	answered := func(address string, right bool) bool {
		wait, _ := l.attempt(netip.MustParseAddr(address), right)
		return wait == 0
	}
	for _, of := range []string{"192.0.2.%d", "2001:db8:7:%x::1", "::ffff:198.51.100.%d"} {
		var tried atomic.Int64
		for range 60 {
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					if answered(fmt.Sprintf(of, i), false) {
						tried.Add(1)
					}
				})
			}
			all.Wait()
			now = now.Add(time.Minute)
		}
		if n := tried.Load(); n < 60 || n > 65 {
			t.Errorf("%s: %d guesses in an hour are answered, want 60 to 65", of, n)
		}
	}
	for i := range 1000 {
		for range 10 {
			answered(fmt.Sprintf("10.%d.%d.1", i/250, i%250), false)
		}
	}
	if !answered("203.0.113.1", true) {
		t.Error("guesses of a thousand networks keep an operator out")
	}
	for range 10 {
		answered("203.0.113.9", false)
	}
	if !answered("203.0.113.1", true) {
		t.Error("guesses in the network of an operator who has logged in keep that one out")
	}
	if answered("203.0.113.9", true) {
		t.Error("the right password is told to a network that has guessed too often")
	}
	now = now.Add(loginMemory + time.Second)
	for range 10 {
		answered("203.0.113.9", false)
	}
	if answered("203.0.113.1", true) {
		t.Error("an address is remembered for longer than half a day")
	}
	for i := range maxNetworks + 10 {
		answered(fmt.Sprintf("10.%d.%d.1", i/250, i%250), false)
	}
	if n := l.wrong.Len(); n > maxNetworks {
		t.Errorf("%d networks are remembered", n)
	}
}
