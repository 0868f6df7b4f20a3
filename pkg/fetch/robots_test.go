package fetch

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestRobotsRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, path string
		allowed          bool
	}{
		{"empty", "", "/a", true},
		{"everything", "User-agent: *\nDisallow: /", "/a", false},
		{"nothing", "User-agent: *\nDisallow:", "/a", true},
		{"robots.txt itself", "User-agent: *\nDisallow: /", "/robots.txt", true},
		{"our name", "User-agent: Ushuru\nDisallow: /a", "/a/b", false},
		{"our name in another case, with a version", "USER-AGENT : uSHURU/2.0 (x)\nDISALLOW : /a", "/a", false},
		{"our group and not that of all", "User-agent: *\nDisallow: /\n\nUser-agent: ushuru\nDisallow: /b", "/a", true},
		{"an empty group of ours", "User-agent: *\nDisallow: /\nUser-agent: ushuru\nAllow:", "/a", true},
		{"the beginning of our name", "User-agent: ush\nDisallow: /", "/a", true},
		{"a longer name", "User-agent: ushurubot\nDisallow: /", "/a", true},
		{"another robot", "User-agent: Googlebot\nDisallow: /", "/a", true},
		{"two names, one group", "User-agent: Googlebot\nUser-agent: Ushuru\nDisallow: /", "/a", false},
		{"two groups of ours", "User-agent: ushuru\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: ushuru\nDisallow: /b", "/b", false},
		{"a line between name and rule", "User-agent: *\nCrawl-delay: 5\nSitemap: /s\n\nDisallow: /a", "/a", false},
		{"rule before any name", "Disallow: /\nUser-agent: x\nDisallow: /", "/a", true},
		{"longest wins", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true},
		{"longest wins, the other way round", "User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", false},
		{"equally long: allow", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", true},
		{"equally long: allow, the other way round", "User-agent: *\nAllow: /a\nDisallow: /a", "/a", true},
		{"star", "User-agent: *\nDisallow: /*/detail-op/", "/x/y/detail-op/1", false},
		{"star without a fit", "User-agent: *\nDisallow: /*/detail-op/", "/detail-op/1", true},
		{"pattern of stars", "User-agent: *\nDisallow: *a*b*c", "/xaxbxc", false},
		{"end", "User-agent: *\nDisallow: /a$", "/ab", true},
		{"end reached", "User-agent: *\nDisallow: /a$", "/a", false},
		{"star and end", "User-agent: *\nDisallow: /*.php$", "/x.php/y.php", false},
		{"star and end with a query", "User-agent: *\nDisallow: /*.php$", "/x.php?id=1", true},
		{"query", "User-agent: *\nDisallow: /*?", "/x?id=1", false},
		{"case of the path", "User-agent: *\nDisallow: /A", "/a", true},
		{"escapes", "User-agent: *\nDisallow: /%61%2f%c3%a9", "/a%2F%C3%A9", false},
		{"bytes beyond ASCII", "User-agent: *\nDisallow: /é", "/%c3%a9", false},
		{"comment", "User-agent: * # all\nDisallow: /a # that\n", "/a", false},
		{"byte order mark and CRLF", "\xef\xbb\xbfUser-agent: *\r\nDisallow: /a\r\n", "/a", false},
		{"old Mac lines", "User-agent: *\rDisallow: /a", "/a", false},
		{"a page of HTML", "<!DOCTYPE html><title>x: y</title>\n<a href='/'>User-agent: no</a>", "/a", true},
	} {
		u, err := url.Parse("https://www.example.com" + c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := parseRobots([]byte(c.file), "ushuru").allows(u); got != c.allowed {
			t.Errorf("%s: %v, want %v", c.name, got, c.allowed)
		}
	}
}

func TestRobotsName(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		defaultUserAgent: "ushuru", "Mozilla/5.0 (compatible; USHURU/2; +https://example.com)": "ushuru", "CarBot/1.0 (x)": "CarBot",
	} {
		if got := robotsName(agent); got != want {
			t.Errorf("%s: %q", agent, got)
		}
	}
}

// site is a listing site whose robots.txt is under the test's control.
type robotsSite struct {
	url    string
	robots http.HandlerFunc
	asked  atomic.Int64 // for robots.txt
	paths  []string
}

func newRobotsSite(t *testing.T, robots http.HandlerFunc) *robotsSite {
	t.Helper()
	s := &robotsSite{robots: robots}
	s.url = serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			s.asked.Add(1)
			s.robots(w, r)
			return
		}
		s.paths = append(s.paths, r.URL.Path)
		if to, ok := strings.CutPrefix(r.URL.Path, "/to"); ok {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	return s
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestRobotsAreObeyed(t *testing.T) {
	t.Parallel()
	site := newRobotsSite(t, text("User-agent: *\nDisallow: /private"))
	client := testClient(t, Options{})
	_, err := client.Get(t.Context(), site.url+"/private/1")
	wantCode(t, err, RobotsForbidden, false)
	if _, err := client.Get(t.Context(), site.url+"/car/1"); err != nil {
		t.Error(err)
	}
	_, err = client.Get(t.Context(), site.url+"/to/private/2")
	wantCode(t, err, RobotsForbidden, false)
	if got := strings.Join(site.paths, " "); got != "/car/1 /to/private/2" || site.asked.Load() != 1 {
		t.Errorf("pages asked for: %s; robots.txt %d times", got, site.asked.Load())
	}
}

func TestRobotsAreAskedForOnceADay(t *testing.T) {
	t.Parallel()
	site := newRobotsSite(t, text("User-agent: *\nDisallow: /a"))
	client := testClient(t, Options{})
	now := time.Now()
	client.robots.now = func() time.Time { return now }
	for _, step := range []struct {
		passed time.Duration
		asked  int64
	}{{0, 1}, {23 * time.Hour, 1}, {2 * time.Hour, 2}} {
		now = now.Add(step.passed)
		if _, err := client.Get(t.Context(), site.url); err != nil || site.asked.Load() != step.asked {
			t.Errorf("asked %d times, want %d; %v", site.asked.Load(), step.asked, err)
		}
	}
	now = now.Add(25 * time.Hour)
	site.robots = status(http.StatusBadGateway)
	_, err := client.Get(t.Context(), site.url+"/a")
	wantCode(t, err, RobotsForbidden, false) // what was read once stays in force
}

func TestRobotsThatAreNotThereForbidNothing(t *testing.T) {
	t.Parallel()
	for name, robots := range map[string]http.HandlerFunc{
		"404": status(404), "401": status(401), "403": status(403), "204": status(204),
		"circle": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/robots.txt", http.StatusFound) },
		"private place": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		},
	} {
		site := newRobotsSite(t, robots)
		if _, err := testClient(t, Options{}).Get(t.Context(), site.url); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRobotsThatFailHoldThePageBackForAShortWhile(t *testing.T) {
	t.Parallel()
	for name, robots := range map[string]http.HandlerFunc{
		"500": status(500), "503": status(503), "429": status(429),
		"broken off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		site := newRobotsSite(t, robots)
		client := testClient(t, Options{})
		now := time.Now()
		client.robots.now, client.robots.backoff = func() time.Time { return now }, 0
		for range 5 {
			_, err := client.Get(t.Context(), site.url)
			if failure := wantCode(t, err, FetchFailed, true); failure.Wait == 0 {
				t.Errorf("%s: when to come again is not said", name)
			}
			now = now.Add(robotsTotalTimeout / 6)
		}
		now = now.Add(robotsTotalTimeout / 2)
		for range 3 {
			if _, err := client.Get(t.Context(), site.url); err != nil {
				t.Errorf("%s: %v after %v", name, err, robotsTotalTimeout)
			}
			now = now.Add(robotsRetryInterval / 4)
		}
		want := 6 * (1 + robotsRetries)
		if name == "429" {
			want = 6
		}
		if asked := site.asked.Load(); asked != int64(want) {
			t.Errorf("%s: robots.txt was asked for %d times, want %d", name, asked, want)
		}
		now = now.Add(3 * robotsRetryInterval) // long forgotten
		_, err := client.Get(t.Context(), site.url)
		wantCode(t, err, FetchFailed, true)
	}
}

func TestRobotsThatFailOnceHoldNothingBack(t *testing.T) {
	t.Parallel()
	var failures atomic.Int64
	site := newRobotsSite(t, func(w http.ResponseWriter, r *http.Request) {
		if failures.Add(1) <= robotsRetries {
			status(http.StatusBadGateway)(w, r)
			return
		}
		text("User-agent: *\nDisallow: /a\n")(w, r)
	})
	client := testClient(t, Options{})
	if _, err := client.Get(t.Context(), site.url); err != nil || site.asked.Load() != 1+robotsRetries {
		t.Errorf("asked %d times, %v", site.asked.Load(), err)
	}
	_, err := client.Get(t.Context(), site.url+"/a")
	wantCode(t, err, RobotsForbidden, false)
}

func TestRobotsInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	one := "User-agent: *\nDisallow: /" + strings.Repeat("a", maxRobotsSize/2) + "\n"
	client := testClient(t, Options{})
	for range 40 {
		site := newRobotsSite(t, text(one))
		if _, err := client.Get(t.Context(), site.url); err != nil {
			t.Fatal(err)
		}
	}
	if client.robots.size > maxRobotsMemory || client.robots.known.Len() < 20 {
		t.Errorf("%d sites in %d bytes", client.robots.known.Len(), client.robots.size)
	}
}

func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*a*$\nAllow: /b%2"), "/b%25?c")
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		u, err := url.Parse("https://www.example.com/" + strings.TrimLeft(path, "/"))
		if err != nil || u.Host != "www.example.com" {
			return
		}
		rules := parseRobots(file, "ushuru")
		rules.allows(u)
		everything := append(bytes.Clone(file), "\nUser-agent: ushuru\nDisallow: /\nDisallow: *\nDisallow: /*\n"...)
		if len(parseRobots(file, "ushuru")) == 0 && parseRobots(everything, "ushuru").allows(u) && u.EscapedPath() != "/robots.txt" {
			t.Errorf("%q is allowed although everything is forbidden by %q", u, everything)
		}
	})
}
