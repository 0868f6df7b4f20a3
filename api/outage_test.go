package api_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"ushuru/api"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

var down = map[string]string{"Retry-After": "2", "Cache-Control": "no-store"}

func unavailable(method, url, body string) scenario {
	return scenario{
		name: method + " " + url, method: method, url: url, body: body,
		status: 503, has: []string{`"code":"unavailable"`}, want: down,
	}
}

func TestRedisDown(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	server := miniredis.RunT(t)
	a := newApp(t, redistest.Open(t, "redis://"+server.Addr()), nil)
	server.Close()
	for _, s := range []scenario{
		unavailable(http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/1"}`),
		unavailable(http.MethodGet, "/v1/tra-status", ""),
		unavailable(http.MethodGet, "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2", ""),
		unavailable(http.MethodGet, "/readyz", ""),
		{name: "alive all the same", url: "/healthz", status: 200},
		refused("a malformed key costs no look-up", "/v1/tra-status", map[string]string{"x-api-key": "ush_1"}),
	} {
		t.Run(s.name, func(t *testing.T) { s.run(t, a) })
	}
}

// TestRedisFailsOneCommand has the key verified and a later command refused,
// by a value of the wrong type under its key.
func TestRedisFailsOneCommand(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	estimate := unavailable(http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/1"}`)
	job := unavailable(http.MethodGet, "/v1/jobs/X", "")
	for _, c := range []struct {
		name     string
		fail     func(s *miniredis.Miniredis)
		scenario scenario
	}{
		{"cache", func(s *miniredis.Miniredis) { s.HSet(string(estimateKey("/1")), "not", "a string") }, estimate},
		{"submit", func(s *miniredis.Miniredis) { _ = s.Set("jobs:active:interactive", "not a sorted set") }, estimate},
		{"job", func(s *miniredis.Miniredis) { _ = s.Set("job:{X}:X", "not a hash") }, job},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := miniredis.RunT(t)
			a := newApp(t, redistest.Open(t, "redis://"+server.Addr()), nil)
			c.fail(server)
			c.scenario.run(t, a)
		})
	}
}

// TestSilentRedisDoesNotHang puts a Redis behind the API that takes
// connections and never says a word.
func TestSilentRedisDoesNotHang(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	server := miniredis.RunT(t)
	line := redistest.Proxy(t, server.Addr())
	a := newApp(t, redistest.Open(t, line.URL), nil)
	line.Delay(time.Hour)
	started := time.Now()
	unavailable(http.MethodGet, "/v1/tra-status", "").run(t, a)
	unavailable(http.MethodGet, "/readyz", "").run(t, a)
	// 3 s and 1 s; the bound is wide: it only shows that there is a timeout.
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestWaiterOfASilentRedisIsAnswered: a caller waits for a job when Redis falls silent. The job may
// go on, so the answer says where it is.
func TestWaiterOfASilentRedisIsAnswered(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	line := redistest.Proxy(t, miniredis.RunT(t).Addr())
	a := newApp(t, redistest.Open(t, line.URL), nil)
	answered := make(chan answer, 1)
	go func() {
		r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+hangs+`"}`)
		r.Header.Set("Prefer", "wait=3")
		answered <- a.send(t, r)
	}()
	testenv.Await(t, "the request that waits for the job", func() (any, bool) {
		waiting := a.hub.Waiting()
		return waiting, waiting == 1
	})
	line.Delay(time.Hour)
	select {
	case got := <-answered:
		if got.status != http.StatusAccepted || !strings.Contains(got.header.Get("Location"), "/v1/jobs/") {
			t.Errorf("got %d %s, want 202 with the address of the job", got.status, got.body)
		}
	case <-time.After(time.Minute): // it takes 12 s; without a bound for each command it takes longer
		t.Error("the caller has no answer")
	}
}

func TestPanicIsA500WithoutDetails(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Status = authority{panics: true}.Status })
	scenario{
		url: "/v1/tra-status", status: 500, has: []string{`"code":"internal"`}, hasNot: []string{"secret", "goroutine"},
	}.run(t, a)
	line := a.log.wait(t, "status", float64(500))
	if cause, _ := line["error"].(string); !strings.Contains(cause, "secret cause") || !strings.Contains(cause, ".traStatus(") {
		t.Errorf("the log does not tell the cause and the place: %v", line)
	}
}

// TestBodyThatBreaksOff promises more bytes than it sends.
func TestBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	address, ok := a.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("not TCP")
	}
	conn, err := net.DialTCP("tcp", nil, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r := "POST /v1/estimate HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + a.key + "\r\nContent-Length: 100\r\n\r\n{\"url\":"
	if _, err := conn.Write([]byte(r)); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if line := a.log.wait(t, "path", "/v1/estimate"); line["status"] != float64(400) && line["status"] != float64(499) {
		t.Errorf("log line %v", line)
	}
}

func TestLogHasKeyAndPathAndNoSecret(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	r := a.request(t, http.MethodGet, "/v1/jobs/X?token=secret", "")
	r.Header.Set("X-Request-ID", "mine")
	a.send(t, r)
	line := a.log.wait(t, "request", "mine")
	for name, want := range map[string]any{
		"level": "INFO", "msg": "request served", "method": "GET", "path": "/v1/jobs/X", "status": float64(404), "key": a.keyID,
	} {
		if line[name] != want {
			t.Errorf("%s = %v, want %v", name, line[name], want)
		}
	}
	for name, value := range line {
		if text, ok := value.(string); ok && (text == a.key || strings.Contains(text, "secret")) {
			t.Errorf("%s = %q holds a secret", name, text)
		}
	}
}
