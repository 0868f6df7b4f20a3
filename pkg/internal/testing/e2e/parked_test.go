package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// rows is a batch whose progress a test awaits.
type rows struct {
	*stack

	path string
}

// submitRows submits a batch.
func (s *stack) submitRows(urls []string) *rows {
	var b struct {
		ID string `json:"id"`
	}
	s.into(s.do(http.MethodPost, "/v1/batches", map[string]any{"urls": urls}), &b)
	return &rows{stack: s, path: "/v1/batches/" + b.ID}
}

func (s *stack) into(got answer, into any) {
	s.t.Helper()
	if err := json.Unmarshal(got.body, into); err != nil || got.status >= http.StatusBadRequest {
		s.t.Fatalf("%d %v %s", got.status, err, got.body)
	}
}

// await waits until so many rows have succeeded and none has failed. again, if not
// nil, is called meanwhile.
func (r *rows) await(limit time.Duration, what string, succeeded int, again func()) {
	r.t.Helper()
	testenv.AwaitFor(r.t, limit, what, func() (any, bool) {
		var b struct {
			Counts map[string]int `json:"counts"`
		}
		r.into(r.do(http.MethodGet, r.path, nil), &b)
		if again != nil {
			again()
		}
		return b.Counts, b.Counts["succeeded"] == succeeded && b.Counts["failed"] == 0
	})
}

// More rows than the window wait for the AI: the others go on, and those that wait
// succeed when the AI is back.
func TestRowsThatWaitForTheAIGiveUpTheirPlaces(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	target, err := url.Parse(aitest.Start(t, aitest.Options{}).URL)
	must(t, err)
	var up atomic.Bool
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(model.Close)
	options := s.workerOptions(tasks.Roles...)
	options.AI = oneAI(model.URL, "k")
	options.AI.DailyTokens, options.BatchWindow = 1_000_000, 2
	stop := s.start(app.Options{Worker: options})

	const waiting, others = 5, 4
	file := filepath.Join(t.TempDir(), "biante.html")
	must(t, os.WriteFile(file, []byte(page), 0o600))
	served := servePage(t, file)
	var urls []string
	for i := range waiting {
		urls = append(urls, fmt.Sprintf("%s/%d", served, i))
	}
	for i := range others {
		urls = append(urls, s.car(i))
	}
	batch := s.submitRows(urls)
	batch.await(20*time.Second, "while the AI is away", others, nil)
	stop() // a new process asks the AI at once, where this one would pause for up to a minute
	up.Store(true)
	s.start(app.Options{Worker: options})
	batch.await(time.Minute, "when the AI is back", waiting+others, s.runDelayed)
	left, err := s.conn.Client().Keys(t.Context(), "batch:*:parked").Result()
	if err != nil || len(left) != 0 {
		t.Errorf("rows are still parked: %v, %v", left, err)
	}
}

// runDelayed has every task run now that waits for its time, as between attempts.
func (s *stack) runDelayed() {
	s.t.Helper()
	queue := asynq.NewInspectorFromRedisClient(s.conn.Client())
	queues, err := queue.Queues()
	must(s.t, err)
	for _, name := range queues {
		_, retried := queue.RunAllRetryTasks(name)
		_, scheduled := queue.RunAllScheduledTasks(name)
		must(s.t, errors.Join(retried, scheduled))
	}
}

// As many new vehicles as the window holds wait for TRA: known ones go on.
func TestRowsThatWaitForTRAGiveUpTheirPlaces(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	const window = 4
	work := func(roles ...tasks.Role) (stop func()) {
		options := s.workerOptions(roles...)
		options.BatchWindow = window
		return s.start(app.Options{Worker: options})
	}
	stop := work(tasks.Roles...)
	var urls []string
	for i := range window {
		urls = append(urls, s.car(i)+"?first")
	}
	s.submitRows(urls).await(30*time.Second, "with TRA", window, nil)
	stop()
	must(t, s.conn.Client().Del(t.Context(), "tra:worker").Err())
	defer work(tasks.RoleAny, tasks.RoleAI)()
	urls = nil
	for i := range window {
		urls = append(urls, s.car(window+i)+"?new")
	}
	for i := range window {
		urls = append(urls, s.car(i)+"?known")
	}
	batch := s.submitRows(urls)
	batch.await(40*time.Second, "while TRA is away", window, nil)
	defer work(tasks.RoleAuthority)()
	batch.await(time.Minute, "when TRA is back", 2*window, nil)
}
