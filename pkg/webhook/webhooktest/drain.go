// Package webhooktest delivers events in tests.
package webhooktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/webhook"
)

const (
	checkInterval = 2 * time.Millisecond
	drainTimeout  = 20 * time.Second

	// dueWithin is how soon a retry must be for Drain to wait for it. asynq
	// counts in whole seconds.
	dueWithin = 4 * time.Second
)

// Drain runs handler on the tasks that deliver events until none is due within a
// few seconds.
func Drain(t testing.TB, client redis.UniversalClient, handler asynq.Handler) {
	t.Helper()
	server := asynq.NewServerFromRedisClient(client, asynq.Config{
		Queues: map[string]int{webhook.Queue: 1}, Concurrency: 1, LogLevel: asynq.FatalLevel,
		TaskCheckInterval: checkInterval, DelayedTaskCheckInterval: checkInterval,
		RetryDelayFunc: webhook.RetryDelay, IsFailure: webhook.IsFailure,
	})
	if err := server.Start(handler); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	ctx, cancel := context.WithTimeout(t.Context(), drainTimeout)
	defer cancel()
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for inspector := asynq.NewInspectorFromRedisClient(client); ; {
		if due, err := hasDue(inspector); err != nil {
			t.Fatal(err)
		} else if !due {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("deliveries remain due")
		case <-ticker.C:
		}
	}
}

// Once runs handler on the tasks that are due now.
func Once(t testing.TB, client redis.UniversalClient, handler asynq.Handler) {
	t.Helper()
	Serve(t, client, handler, 1, 50*time.Millisecond)
}

// Serve runs handler on the tasks that deliver events, as many at once as a worker has
// slots, for some time.
func Serve(t testing.TB, client redis.UniversalClient, handler asynq.Handler, slots int, during time.Duration) {
	t.Helper()
	server := asynq.NewServerFromRedisClient(client, asynq.Config{
		Queues: map[string]int{webhook.Queue: 1}, Concurrency: slots, LogLevel: asynq.FatalLevel,
		TaskCheckInterval: checkInterval, DelayedTaskCheckInterval: checkInterval,
		RetryDelayFunc: webhook.RetryDelay, IsFailure: webhook.IsFailure,
	})
	if err := server.Start(handler); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	select {
	case <-t.Context().Done():
	case <-time.After(during):
	}
}

func hasDue(inspector *asynq.Inspector) (bool, error) {
	info, err := inspector.GetQueueInfo(webhook.Queue)
	if errors.Is(err, asynq.ErrQueueNotFound) {
		return false, nil
	}
	if err != nil || info.Pending+info.Active > 0 {
		return true, err
	}
	retries, err := inspector.ListRetryTasks(webhook.Queue)
	if len(retries) != info.Retry { // one has moved since
		return true, err
	}
	for _, task := range retries {
		if time.Until(task.NextProcessAt) < dueWithin {
			return true, err
		}
	}
	return false, err
}
