package e2e

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// The command resumes a batch that was stopped, and does not submit it again.
func TestBatchCommandResumes(t *testing.T) {
	t.Parallel()
	redis := redistest.Embedded(t)
	s := newStack(t, redis)
	dir := t.TempDir()
	table, out := filepath.Join(dir, "lots.csv"), filepath.Join(dir, "results.csv")
	must(t, os.WriteFile(table, []byte("reference,url\nA,"+s.car(0)+"\nB,"+s.site+"/gone\nC,"+s.car(0)+"?utm_source=x\nD,no address\n"), 0o600))
	execute := func(ctx context.Context, more ...string) (int, string) {
		var printed bytes.Buffer
		args := append([]string{"batch", table, "--out", out, "--url", s.base, "--key", s.key}, more...)
		return cli.Main(ctx, args, cli.Streams{Out: &printed, Err: &printed}), printed.String()
	}
	if status, printed := execute(t.Context()); status != console.ExitRefused || !strings.Contains(printed, "1 of 4 rows") ||
		!strings.Contains(printed, "row 5: D: no address") {
		t.Fatalf("a bad row: status %d, %s", status, printed)
	}
	if _, err := os.Stat(out + ".batch"); err == nil {
		t.Error("a refused batch has left its file")
	}
	stopped, stop := context.WithCancel(t.Context())
	watching := make(chan string, 1)
	go func() {
		defer stop()
		for stopped.Err() == nil {
			if data, err := os.ReadFile(out + ".batch"); err == nil && strings.Contains(string(data), `"id":"0`) {
				watching <- string(data)
				return
			}
		}
	}()
	if status, printed := execute(stopped, "--skip"); status != console.ExitFailure || !strings.Contains(printed, "continues on the server") {
		t.Fatalf("stopped: status %d, %s", status, printed)
	}
	saved := <-watching
	s.work(tasks.RoleAny, tasks.RoleAuthority)
	status, printed := execute(t.Context(), "--skip")
	if status != console.ExitRows || !strings.Contains(printed, "2 succeeded, 1 failed, 1 rejected") {
		t.Fatalf("resumed: status %d, %s", status, printed)
	}
	data, err := os.ReadFile(out)
	must(t, err)
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 5 || rows[1][3] != "succeeded" || rows[2][4] != "listing_gone" || rows[4][4] != "url_invalid" {
		t.Fatalf("%q, %v", rows, err)
	}
	if found, err := redis.Client().Keys(t.Context(), "batch:{*}").Result(); err != nil || len(found) != 1 {
		t.Errorf("%d batches: %v, %v; saved %s", len(found), found, err, saved)
	}
	if _, err := os.Stat(out + ".batch"); !os.IsNotExist(err) {
		t.Errorf("the saved batch is still there: %v", err)
	}
}

// TestACancelledBatchFetchesNothing: its rows wait for the pace of their site, for pages that
// never end, and for retries of pages that fail.
func TestACancelledBatchFetchesNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.Open(t, redistest.Start(t).URL)
	s := newStack(t, redis)
	var fetched atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if fetched.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		<-r.Context().Done()
	}))
	t.Cleanup(site.Close)
	urls := make([]string, 1000)
	for i := range urls {
		urls[i] = fmt.Sprintf("%s/car/%d", site.URL, i)
	}
	s.work(tasks.RoleAny)
	posted := s.do(http.MethodPost, "/v1/batches", map[string]any{"urls": urls})
	path := posted.header.Get("Location")
	testenv.Await(t, "rows that wait for each reason", func() (any, bool) { return fetched.Load(), fetched.Load() >= 4 })

	started := time.Now()
	cancelled := s.do(http.MethodDelete, path, nil)
	if !bytes.Contains(cancelled.body, []byte(`"state":"cancelled"`)) || !bytes.Contains(cancelled.body, []byte(`"running":0`)) {
		t.Errorf("got %s, want it cancelled", cancelled.body)
	}
	open := func() int {
		ids, err := jobs.NewStore(redis.Client()).ListActive(t.Context(), jobs.Bulk)
		must(t, err)
		return len(ids)
	}
	testenv.Await(t, "the end of all jobs", func() (any, bool) { return open(), open() == 0 })
	took, before := time.Since(started), fetched.Load()
	t.Logf("ended after %v with %d pages", took, before)
	if took > 10*time.Second {
		t.Errorf("got an end after %v, want at most 10 s", took)
	}
	failed := 0
	testenv.Await(t, "the end of all tasks", func() (any, bool) {
		info, err := asynq.NewInspectorFromRedisClient(redis.Client()).GetQueueInfo("any_bulk")
		must(t, err)
		failed = info.Failed
		return fmt.Sprintf("%+v", info), info.Active+info.Pending+info.Scheduled+info.Retry == 0
	})
	if got := fetched.Load(); got != before {
		t.Errorf("got %d pages fetched after the end, want none", got-before)
	}
	if most := int(before); failed > most {
		t.Errorf("got %d failed tasks, want those of the pages that failed alone", failed)
	}
	retried := s.do(http.MethodPost, path+"/retry", nil)
	if !bytes.Contains(retried.body, []byte(`"state":"running"`)) || !bytes.Contains(retried.body, []byte(`"cancelled":0`)) {
		t.Errorf("got %s, want all rows to wait again", retried.body)
	}
	s.do(http.MethodDelete, path, nil)
}
