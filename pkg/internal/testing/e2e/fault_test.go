package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/keys"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook/signature"
	"ushuru/tasks"
)

// After FLUSHALL nothing is left but what the operator has exported; the processes
// that run find their queues and serve again, without a restart.
func TestServiceGoesOnAfterFlush(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := redistest.Open(t, server.URL)
	s := newStack(t, conn)
	s.work(tasks.Roles...)
	s.post(s.car(0)).estimate(t)
	url, hooks := receiver(t)
	var hook struct{ ID, Secret string }
	s.postInto("/v1/webhooks", `{"url":"`+url+`","events":["job.completed"]}`, &hook)
	file := filepath.Join(t.TempDir(), "webhooks.jsonl")
	webhooks := func(command string) (status int, out, errs bytes.Buffer) {
		status = cli.Main(t.Context(), []string{"webhooks", command, "--redis-url", server.URL, file}, cli.Streams{Out: &out, Err: &errs})
		return status, out, errs
	}
	if status, _, errs := webhooks("export"); status != console.ExitOK || !strings.Contains(errs.String(), "SECRET") {
		t.Fatalf("%d, %s", status, errs.String())
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if status, _, _ := webhooks("export"); status == console.ExitOK {
		t.Error("an export has replaced a file")
	}
	var backup bytes.Buffer
	_, err := keys.NewStore(conn.Client()).Export(t.Context(), &backup)
	must(t, err)
	must(t, conn.Client().FlushAll(t.Context()).Err())

	lost := time.Now()
	forgets()
	if got := s.post(s.car(1)); got.status != http.StatusUnauthorized {
		t.Errorf("without keys: %d %s", got.status, got.body)
	}
	_, err = keys.NewStore(conn.Client()).Import(t.Context(), &backup)
	must(t, err)
	if status, out, _ := webhooks("import"); status != console.ExitOK || !strings.HasPrefix(out.String(), "1 webhooks") {
		t.Errorf("%d, %s", status, out.String())
	}
	s.submit(s.car(2)) // an event goes to callers who do not wait
	s.post(s.car(1)).estimate(t)
	select {
	case event := <-hooks:
		h := event.header
		must(t, signature.Verify(hook.Secret, h.Get(signature.HeaderID), h.Get(signature.HeaderTimestamp),
			h.Get(signature.HeaderSignature), event.body, time.Now()))
	case <-time.After(20 * time.Second):
		t.Error("no webhook with the imported secret")
	}
	t.Logf("an estimate %v after FLUSHALL", time.Since(lost).Round(10*time.Millisecond))
	inspector := asynq.NewInspectorFromRedisClient(conn.Client())
	testenv.Await(t, "seven queues", func() (any, bool) {
		queues, err := inspector.Queues()
		must(t, err)
		return queues, len(queues) == 7
	})
}
