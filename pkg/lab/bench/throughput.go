package bench

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"ushuru/worker"
)

// Throughput measures bare asynq: how many tasks a second that do nothing are
// enqueued and processed at the same time, on a server configured like those of
// the workers.
func Throughput(ctx context.Context, client redis.UniversalClient, n int) (perSecond float64, err error) {
	const concurrency, enqueuers = 16, 8 // as a worker has
	queue := "bench_" + ulid.Make().String()
	var done atomic.Int64
	last := make(chan struct{})
	server := asynq.NewServerFromRedisClient(client,
		worker.ServerConfig(map[string]int{queue: 1}, concurrency, time.Second, slog.New(slog.DiscardHandler)))
	err = server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		if done.Add(1) == int64(n) {
			close(last)
		}
		return nil
	}))
	if err != nil {
		return 0, err
	}
	defer func() {
		server.Shutdown()
		_ = asynq.NewInspectorFromRedisClient(client).DeleteQueue(queue, true)
	}()
	enqueuer := asynq.NewClientFromRedisClient(client)
	start := time.Now()
	var group errgroup.Group
	group.SetLimit(enqueuers)
	for range n {
		group.Go(func() error {
			_, err := enqueuer.EnqueueContext(ctx, asynq.NewTask("bench:noop", []byte("{}")), asynq.Queue(queue))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-last:
		return float64(n) / time.Since(start).Seconds(), nil
	}
}
