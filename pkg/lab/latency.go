package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/worker"
)

// Latency prints how long tasks wait in an idle queue.
func Latency(ctx context.Context, out io.Writer, client redis.UniversalClient, samples int) error {
	waited, err := idleLatency(ctx, client, max(samples, 1))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "idle latency over %d tasks: p50 %s  p95 %s  max %s\n",
		len(waited), quantile(waited, 0.50), quantile(waited, 0.95), quantile(waited, 1))
	return err
}

// idleLatency measures how long each of a number of tasks, one after the other,
// waits in an otherwise idle queue: from just before it is enqueued until its
// handler starts, on a server configured like those of the workers.
func idleLatency(ctx context.Context, client redis.UniversalClient, samples int) ([]time.Duration, error) {
	const taskType = "bench:noop"
	queue := "bench_" + ulid.Make().String()
	started := make(chan time.Time)
	server := asynq.NewServerFromRedisClient(client,
		worker.ServerConfig(map[string]int{queue: 1}, 1, time.Second, slog.New(slog.DiscardHandler)))
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
		// An odd pause keeps the samples out of step with the server's polling.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(37+i*13%41) * time.Millisecond):
		}
		start := time.Now()
		if _, err := enqueuer.EnqueueContext(ctx, asynq.NewTask(taskType, payload), asynq.Queue(queue)); err != nil {
			return nil, fmt.Errorf("lab: enqueueing: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case at := <-started:
			waited = append(waited, at.Sub(start))
		}
	}
	return waited, nil
}
