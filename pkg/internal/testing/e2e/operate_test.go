package e2e

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// lockedLog is a log that several goroutines write and a test reads.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// operates returns what runs a command as the operator and returns its output.
func operates(t *testing.T, url string) func(want int, args ...string) string {
	t.Helper()
	return func(want int, args ...string) string {
		t.Helper()
		status, out, errs := runWith(t, append(args, "--redis-url", url)...)
		if status != want {
			t.Fatalf("%v: status %d, want %d: %s%s", args, status, want, out, errs)
		}
		return out + errs
	}
}

// A worker that runs closes its breaker when an operator says so, and goes on.
func TestBreakerResetReachesARunningWorker(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := newStack(t, redistest.Open(t, server.URL))
	log := &lockedLog{}
	s.log = slog.New(slog.NewJSONHandler(log, nil))
	s.work(tasks.Roles...)
	s.post(s.car(0)).estimate(t)
	run := operates(t, server.URL)
	s.authority.SetFaults(tratest.Faults{Status: http.StatusServiceUnavailable})
	var waiting []string
	for year := 2014; year < 2020; year++ {
		waiting = append(waiting, s.quoteJob(year))
	}
	testenv.AwaitTrue(t, "the breaker opens", func() bool {
		return s.conn.Client().HGet(t.Context(), "tra:status", "breaker").Val() == "open"
	})
	s.authority.SetFaults(tratest.Faults{})
	if said := run(console.ExitOK, "breaker", "reset"); !strings.Contains(said, "close their breakers") {
		t.Error(said)
	}
	testenv.AwaitTrue(t, "the worker was reset", func() bool { return log.has("was reset by an operator") })
	for _, id := range waiting {
		if job := s.job(id, ended); job.State != jobs.Succeeded {
			t.Errorf("%s: %+v", job.State, job.Error)
		}
	}
}

// The rows of a running batch wait while their site is paused, and go on when it is resumed.
func TestAPausedSiteStopsARunningBatch(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := newStack(t, redistest.Open(t, server.URL))
	s.work(tasks.Roles...)
	lots := newLots(t, 40, 3)
	run := operates(t, server.URL)
	_, host, _ := strings.Cut(lots.urls[0], "//")
	host, _, _ = strings.Cut(host, "/")
	run(console.ExitOK, "sites", "pause", host, "--for", "1h")
	if list := run(console.ExitOK, "sites", "list"); !strings.Contains(list, host) || !strings.Contains(list, "an operator") {
		t.Error(list)
	}
	body, err := lots.body()
	must(t, err)
	var batch client.Batch
	s.postInto("/v1/batches", string(body), &batch)
	testenv.AwaitTrue(t, "rows run", func() bool { return strings.Contains(run(console.ExitOK, "batches", "show", batch.ID), "running") })
	if shown := run(console.ExitOK, "batches", "show", batch.ID); strings.Contains(shown, "succeeded") || lots.site.requests.Load() > 0 {
		t.Errorf("%d pages of a paused site: %s", lots.site.requests.Load(), shown)
	}
	run(console.ExitOK, "sites", "resume", host)
	defer func() {
		if t.Failed() {
			t.Log(run(console.ExitOK, "jobs", "list", "--json", "--limit", "2"), run(console.ExitOK, "batches", "show", batch.ID), run(console.ExitOK, "sites", "list"))
		}
	}()
	testenv.AwaitTrue(t, "rows succeed", func() bool {
		s.runDelayed() // without the seconds after which rows look again
		return strings.Contains(run(console.ExitOK, "batches", "show", batch.ID), "succeeded")
	})
	run(console.ExitOK, "batches", "cancel", batch.ID)
	testenv.AwaitTrue(t, "the batch ends", func() bool { return strings.Contains(run(console.ExitOK, "batches", "show", batch.ID), "Ended") })
	if said := run(console.ExitFailure, "batches", "cancel", "NONE"); !strings.Contains(said, "there is none with that id") {
		t.Error(said)
	}
}

// Failed work of a running service is tried again by command, and what is cached is dropped.
func TestOperatorsRetryAndDrop(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := newStack(t, redistest.Open(t, server.URL))
	s.work(tasks.Roles...)
	run := operates(t, server.URL)
	url := s.car(0)
	s.post(url).estimate(t)
	if e := s.post(url).estimate(t); !e.Cached {
		t.Fatal("it is not cached")
	}
	if said := run(console.ExitOK, "cache", "drop", "--make", "TOYOTA", "--model-body", "COROLLA AXIO - NKE165 - HYBRID - SEDAN", "--json"); strings.Contains(said, `"calculations": 0`) ||
		strings.Contains(said, `"results": 0`) {
		t.Error(said)
	}
	s.expireJoinGrace()
	if e := s.post(url).estimate(t); e.Cached {
		t.Error("it is cached after the drop")
	}
	failed := s.submit(s.site + "/gone")
	s.job(failed, ended)
	if said := run(console.ExitOK, "jobs", "show", failed); !strings.Contains(said, "listing_gone") {
		t.Error(said)
	}
	testenv.Await(t, "the failure is found by its code", func() (any, bool) {
		said := run(console.ExitOK, "jobs", "list", "--state", "failed", "--code", "listing_gone")
		return said, strings.Contains(said, failed)
	})
	run(console.ExitOK, "jobs", "retry", failed)
	run(console.ExitOK, "jobs", "retry", "--code", "listing_gone")
	run(console.ExitOK, "ai", "budget", "1000")
	if said := run(console.ExitOK, "ai", "budget"); !strings.Contains(said, "1000 (0 % used), set by an operator") {
		t.Error(said)
	}
	if said := run(console.ExitOK, "ai", "budget", "--reset"); strings.Contains(said, "set by an operator") {
		t.Error(said)
	}
	if said := run(console.ExitOK, "actions"); !strings.Contains(said, "jobs retry") || !strings.Contains(said, "cache drop") || !strings.Contains(said, "ai budget") {
		t.Error(said)
	}
}

// A command that does not reach Redis says why in one line, without the password.
func TestCommandsSayWhyRedisIsNotReached(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	address := strings.TrimSuffix(strings.TrimPrefix(server.URL, "redis://"), "/0")
	must(t, redistest.Open(t, server.URL).Client().ConfigSet(t.Context(), "requirepass", "right").Err())
	nothing, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	gone := nothing.Addr().String()
	must(t, nothing.Close())
	for url, want := range map[string]string{
		"redis://" + gone + "/0":               "connection refused",
		"redis://" + address + "/0":            "NOAUTH",
		"redis://:s3cret@" + address + "/0":    "WRONGPASS",
		"redis://api:s3cret@" + address + "/0": "WRONGPASS",
		"http://" + address:                    "the scheme must be redis",
	} {
		for _, command := range [][]string{{"status"}, {"jobs", "list"}, {"batches", "list"}} {
			status, said := programWith(t, []string{"REDIS_URL=" + url}, command...)
			if status != console.ExitFailure || !strings.Contains(said, want) || strings.Contains(said, "s3cret") || strings.Count(said, "\n") != 1 {
				t.Errorf("%v with %s: %q", command, url, said)
			}
		}
	}
	if status, out, errs := runWith(t, "health", "--admin-addr", gone); status != console.ExitFailure || !strings.Contains(errs, "connection refused") || out != "" {
		t.Errorf("health: %d %s%s", status, out, errs)
	}
}
