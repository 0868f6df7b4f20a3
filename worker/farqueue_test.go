package worker

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks"
)

// A far worker takes all tasks that wait, each once, never more at a time than it has
// slots for, and a task of a person although a batch has all of its own.
func TestFarWorkerFetchesManyTasksAndNoneOfABatchBeforeAPerson(t *testing.T) {
	t.Parallel()
	const slots, bulk = 4, 40
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	ran, running, most := map[string]int{}, 0, 0
	hold, person := make(chan struct{}), make(chan struct{})
	handler := asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		if queue, _ := asynq.GetQueueName(ctx); !tasks.IsBulkQueue(queue) {
			close(person)
			return nil
		}
		mu.Lock()
		ran[string(task.Payload())]++
		running++
		most = max(most, running)
		mu.Unlock()
		<-hold
		mu.Lock()
		running--
		mu.Unlock()
		return nil
	})
	queues := newFarQueues(ctx, client, tasks.RoleAuthority, slots, pace{interactive: time.Minute, bulk: time.Minute}, nil)
	config := ServerConfig(tasks.QueuesOf(tasks.RoleAuthority), farServerSlots*slots, time.Second, slog.New(slog.DiscardHandler))
	config.TaskCheckInterval = farLookInterval
	server := asynq.NewServerFromRedisClient(queues, config)
	enqueuer := asynq.NewClientFromRedisClient(client)
	enqueue := func(queue, payload string) {
		t.Helper()
		if _, err := enqueuer.Enqueue(asynq.NewTask("bench:noop", []byte(payload)), asynq.Queue(queue)); err != nil {
			t.Fatal(err)
		}
		if err := client.Publish(ctx, jobs.ChannelEnqueued, queue).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range bulk {
		enqueue("authority_bulk", strconv.Itoa(i))
	}
	if err := server.Start(queues.middleware(handler)); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	await := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	await("the slots are not filled", func() bool { mu.Lock(); defer mu.Unlock(); return running == farBulkSlots*slots })
	enqueue("authority", "person")
	select {
	case <-person:
	case <-time.After(20 * time.Second):
		t.Fatal("the task of a person waits for a batch")
	}
	close(hold)
	await("not all tasks ran", func() bool { mu.Lock(); defer mu.Unlock(); return len(ran) == bulk && running == 0 })
	for payload, n := range ran {
		if n != 1 {
			t.Errorf("task %s ran %d times", payload, n)
		}
	}
	if most > farBulkSlots*slots {
		t.Errorf("%d tasks at a time, want %d", most, farBulkSlots*slots)
	}
}
