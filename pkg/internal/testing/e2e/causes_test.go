package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/logs"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// lines is a log whose lines can be searched.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await returns the first line with a message, as its values.
func (l *lines) await(t *testing.T, message string) map[string]any {
	t.Helper()
	var found map[string]any
	testenv.Await(t, "the line "+message, func() (any, bool) {
		text := l.String()
		for line := range strings.Lines(text) {
			var values map[string]any
			if json.Unmarshal([]byte(line), &values) == nil && values["msg"] == message {
				found = values
				return nil, true
			}
		}
		return text, false
	})
	return found
}

// Who reads the log at three in the morning finds what failed, where, with which answer, and
// for whom.
func TestLogNamesTheCause(t *testing.T) {
	t.Parallel()
	const planted = "ush_0123456789abcdefghijABCDEFGHIJ01234567"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("<h1>Blocked\x1b[0m\nby " + planted + "</h1>" + strings.Repeat("z", 4000)))
	}))
	t.Cleanup(site.Close)
	model := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Status: 500}})
	var log lines
	s := newStack(t, embeddedRedis(t))
	s.log = logs.New(&log, logs.Options{})
	options := s.workerOptions(tasks.Roles...)
	options.AI = oneAI(model.URL, aitest.Mark)
	options.AI.DailyTokens = 100_000
	s.start(app.Options{Worker: options})
	check := func(line map[string]any, want map[string]any) {
		t.Helper()
		for name, value := range want {
			if line[name] != value {
				t.Errorf("%s is %v, want %v, in %v", name, line[name], value, line)
			}
		}
		for _, name := range []string{"job", "key", "cause", "answer"} {
			if text, _ := line[name].(string); text == "" {
				t.Errorf("no %s in %v", name, line)
			}
		}
	}

	blocked := s.post(site.URL+"/car", "X-Request-ID", "req-site")
	if blocked.status == http.StatusOK {
		t.Fatalf("%s", blocked.body)
	}
	line := log.await(t, "page cannot be read")
	check(line, map[string]any{
		"level": "ERROR", "call": "page", "status": 403.0, "code": "listing_blocked", "kind": "estimate", "step": "scrape",
		"site": "127.0.0.1", "request": "req-site",
	})
	answer, _ := line["answer"].(string)
	if !strings.HasPrefix(answer, "<h1>Blocked [0m by [redacted]") || len(answer) > logs.MaxExcerpt {
		t.Errorf("answer %q", answer)
	}

	s.post(s.car(0)).estimate(t) // the catalogue is there
	s.authority.SetFaults(tratest.Faults{Status: http.StatusBadGateway})
	id := filepath.Base(s.post(s.car(1), "X-Request-ID", "req-tra", "Prefer", "respond-async").header.Get("Location"))
	line = log.await(t, "call to TRA's calculator failed")
	check(line, map[string]any{
		"level": "ERROR", "error_kind": "unavailable", "status": 502.0, "kind": "estimate", "request": "req-tra", "job": id,
	})
	if call, _ := line["call"].(string); !strings.HasPrefix(call, "get") || line["duration_ms"] == nil {
		t.Errorf("call %v, duration %v", line["call"], line["duration_ms"])
	}
	s.authority.SetFaults(tratest.Faults{})
	s.job(id, func(job *jobs.Job) bool { return job.State == jobs.Succeeded })

	file := filepath.Join(t.TempDir(), "biante.html")
	must(t, os.WriteFile(file, []byte(page), 0o600))
	s.post(servePage(t, file), "X-Request-ID", "req-ai", "Prefer", "respond-async")
	line = log.await(t, "an AI endpoint gave no good answer")
	check(line, map[string]any{
		"call": "match_car", "error_kind": "unavailable", "status": 500.0, "request": "req-ai", "step": "match", "answer": "[redacted] failure.", // the key is the first word
	})
	if strings.Contains(log.String(), planted) {
		t.Error("a secret is in the log")
	}
}

// Who asks why a caller is refused finds the id of its key and its address.
func TestLogNamesAKeyThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	var log lines
	s.log = logs.New(&log, logs.Options{})
	listener, err := app.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	s.base = "http://" + listener.Addr().String()
	s.start(app.Options{API: &app.APIOptions{Listener: listener, WaitMax: time.Second}, Version: "1.2.3"})
	start := log.await(t, "starting")
	for _, name := range []string{"version", "roles", "traces", "pages", "monitoring", "webhook_keys_sealed"} {
		if _, said := start[name]; !said {
			t.Errorf("no %s in %v", name, start)
		}
	}
	store := keys.NewStore(s.conn.Client())
	all, err := store.List(t.Context())
	must(t, err)
	must(t, store.Revoke(t.Context(), all[0].ID))
	if got := s.do(http.MethodGet, "/v1/jobs", nil); got.status != http.StatusUnauthorized {
		t.Fatalf("%d %s", got.status, got.body)
	}
	line := log.await(t, "request served")
	if line["refused_key"] != all[0].ID || line["address"] != "127.0.0.1" {
		t.Errorf("refused key %v, address %v in %v", line["refused_key"], line["address"], line)
	}
}

// A job that nothing goes wrong with is one line of the log, of less than 400 bytes, which says
// whose it was, what came out and for which car, at the time of Dar es Salaam.
func TestAJobIsOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	var log lines
	s := newStack(t, embeddedRedis(t))
	s.log = logs.New(&log, logs.Options{})
	s.work(tasks.Roles...)
	s.post(s.car(0)).estimate(t) // the catalogue is there
	log.await(t, "job ended")
	begun := len(log.String())
	for i := range 5 {
		s.post(s.car(i+1), "X-Request-ID", "req-of-a-job").estimate(t)
	}
	gone := s.post(s.site + "/nothing")
	var text string
	testenv.Await(t, "the ends of six jobs", func() (any, bool) {
		text = log.String()[begun:]
		return text, strings.Count(text, "job ended") == 6
	})
	outcomes := map[any]int{}
	for line := range strings.Lines(text) {
		var values map[string]any
		must(t, json.Unmarshal([]byte(line), &values))
		outcomes[values["outcome"]]++
		when, _ := values["time"].(string)
		if values["msg"] != "job ended" || len(line) > 400 || !strings.HasSuffix(when, "+03:00") || values["key"] == nil ||
			values["job"] == nil || values["duration_ms"] == nil || values["kind"] != "estimate" || values["site"] != "127.0.0.1" {
			t.Errorf("%d bytes, want one short line of a job at +03:00: %s", len(line), line)
		}
		if values["outcome"] == "succeeded" && (values["request"] != "req-of-a-job" || values["car"] == nil) {
			t.Errorf("neither request nor car: %s", line)
		}
	}
	if outcomes["succeeded"] != 5 || outcomes["listing_gone"] != 1 || len(outcomes) != 2 {
		t.Errorf("got %v, want 5 that succeeded and the gone one (%d):\n%s", outcomes, gone.status, text)
	}
}
