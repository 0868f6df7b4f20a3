package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
)

// IdleLatency measures, one after the other, how long samples tasks wait in
// an otherwise idle queue: from just before a task is put there until its
// handler starts, on a server configured as the workers' are.
func IdleLatency(ctx context.Context, client redis.UniversalClient, samples int) ([]time.Duration, error) {
	const taskType = "bench:noop"
	queue := "bench_" + ulid.Make().String()
	started := make(chan time.Time)
	server := asynq.NewServerFromRedisClient(client,
		serverConfig(map[string]int{queue: 1}, 1, time.Second, slog.New(slog.DiscardHandler)))
	err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		started <- time.Now()
		return nil
	}))
	if err != nil {
		return nil, err
	}
	inspector := asynq.NewInspectorFromRedisClient(client)
	defer func() {
		server.Shutdown()
		_ = inspector.DeleteQueue(queue, true)
	}()
	enqueuer := asynq.NewClientFromRedisClient(client)
	waited := make([]time.Duration, 0, samples)
	for i := range samples {
		payload, err := json.Marshal(i)
		if err != nil {
			return nil, err
		}
		// An odd pause, so that the samples do not fall into step with the
		// server's own looks at the queue.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(37+i*13%41) * time.Millisecond):
		}
		begun := time.Now()
		if _, err := enqueuer.EnqueueContext(ctx, asynq.NewTask(taskType, payload), asynq.Queue(queue)); err != nil {
			return nil, fmt.Errorf("worker: enqueue: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case at := <-started:
			waited = append(waited, at.Sub(begun))
		}
	}
	return waited, nil
}
