package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/keys"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
	"ushuru/tasks"
)

// After FLUSHALL nothing is left but what the operator restores; the processes that
// run find their queues and serve again, without a restart.
func TestServiceGoesOnAfterFlush(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t)
	conn := redistest.Open(t, server.URL)
	s := newStack(t, conn)
	s.work(tasks.Roles...)
	s.post(s.car(0)).estimate(t)
	url, hooks := receiver(t)
	var hook struct{ ID, Secret string }
	s.postInto("/v1/webhooks", `{"url":"`+url+`","events":["job.completed"]}`, &hook)
	owner, err := keys.NewStore(conn.Client()).Verify(t.Context(), s.key)
	must(t, err)
	testenv.Await(t, "a verified webhook", func() (any, bool) {
		all, err := webhook.NewStore(conn.Client(), nil).List(t.Context(), owner.ID)
		return all, err == nil && len(all) == 1 && all[0].State != webhook.Unverified
	})
	backup := map[string]string{} // of the keys and webhooks
	for _, pattern := range []string{"key:*", "keys:index", "keys:names", "webhook:{*}"} {
		names, err := conn.Client().Keys(t.Context(), pattern).Result()
		must(t, err)
		for _, name := range names {
			backup[name], err = conn.Client().Dump(t.Context(), name).Result()
			must(t, err)
		}
	}
	must(t, conn.Client().FlushAll(t.Context()).Err())

	lost := time.Now()
	forgets()
	if got := s.post(s.car(1)); got.status != http.StatusUnauthorized {
		t.Errorf("without keys: %d %s", got.status, got.body)
	}
	for name, value := range backup {
		must(t, conn.Client().Restore(t.Context(), name, 0, value).Err())
	}
	s.submit(s.car(2)) // an event goes to callers who do not wait
	s.post(s.car(1)).estimate(t)
	select {
	case event := <-hooks:
		h := event.header
		must(t, webhooktest.CheckSignature(hook.Secret, h.Get(webhook.HeaderID), h.Get(webhook.HeaderTimestamp),
			h.Get(webhook.HeaderSignature), event.body, time.Now()))
	case <-time.After(20 * time.Second):
		t.Error("no webhook with the restored secret")
	}
	t.Logf("an estimate %v after FLUSHALL", time.Since(lost).Round(10*time.Millisecond))
	inspector := asynq.NewInspectorFromRedisClient(conn.Client())
	testenv.Await(t, "seven queues", func() (any, bool) {
		queues, err := inspector.Queues()
		must(t, err)
		return queues, len(queues) == 7
	})
}
