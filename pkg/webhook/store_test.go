package webhook_test

import (
	"net/http"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
)

// TestADeliveryWithoutATaskIsSentAgain: an operator deletes or archives tasks in Asynqmon, whose
// deliveries would stay pending for ever.
func TestADeliveryWithoutATaskIsSentAgain(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, http.StatusNoContent)
		s := newStage(t, conn.Client(), to.URL)
		queues := asynq.NewInspectorFromRedisClient(s.client)
		for _, subject := range []string{"deleted", "archived", "waits"} {
			s.emit(t, webhook.BatchCompleted, subject)
		}
		tasks, err := queues.ListPendingTasks(webhook.Queue)
		if err != nil || len(tasks) != 3 {
			t.Fatalf("got %d tasks, %v, want one for each delivery", len(tasks), err)
		}
		if err := queues.DeleteTask(webhook.Queue, tasks[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := queues.ArchiveTask(webhook.Queue, tasks[1].ID); err != nil {
			t.Fatal(err)
		}
		sweep := func(want int) {
			t.Helper()
			if sent, err := s.store.Sweep(t.Context()); err != nil || sent != want {
				t.Errorf("got %d sent again, %v, want %d", sent, err, want)
			}
		}
		due := func() { // a minute has passed
			for _, id := range s.client.ZRange(t.Context(), "webhook:pending", 0, -1).Val() {
				s.client.ZAdd(t.Context(), "webhook:pending", redis.Z{Member: id})
			}
		}
		sweep(0)
		due()
		sweep(2)
		s.send(t)
		for _, d := range s.deliveries(t) {
			if d.State != webhook.Delivered {
				t.Errorf("got %+v, want it delivered", d)
			}
		}
		due()
		sweep(0)
		if left := s.client.ZCard(t.Context(), "webhook:pending").Val(); left != 0 {
			t.Errorf("got %d deliveries that are still watched, want none", left)
		}
	})
}
