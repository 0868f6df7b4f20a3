package cli

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/keys"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks"
)

// After FLUSHALL nothing is left but what the operator has exported; the processes
// that run find their queues and serve again, without a restart.
func TestServiceGoesOnAfterFlush(t *testing.T) {
	server := redistest.Start(t)
	conn := redistest.Open(t, server.URL)
	s := newStack(t, conn)
	s.work(tasks.Roles...)
	s.post(s.car(0)).estimate(t)
	var backup bytes.Buffer
	_, err := keys.NewStore(conn.Client()).Export(t.Context(), &backup)
	must(t, err)
	must(t, conn.Client().FlushAll(t.Context()).Err())

	lost := time.Now()
	time.Sleep(1100 * time.Millisecond) // the API remembers keys for a second
	if got := s.post(s.car(1)); got.status != http.StatusUnauthorized {
		t.Errorf("without keys: %d %s", got.status, got.body)
	}
	_, err = keys.NewStore(conn.Client()).Import(t.Context(), &backup)
	must(t, err)
	s.post(s.car(1)).estimate(t)
	t.Logf("an estimate %v after FLUSHALL", time.Since(lost).Round(10*time.Millisecond))
	inspector := asynq.NewInspectorFromRedisClient(conn.Client())
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		queues, err := inspector.Queues()
		must(t, err)
		if len(queues) == 7 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("queues %v", queues)
		}
	}
}
