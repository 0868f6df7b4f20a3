package bench

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

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/tratest"
	"ushuru/worker"
)

// LatencyOptions of Latency.
type LatencyOptions struct {
	Redis     *redisx.Conn // an empty Redis
	Log       *slog.Logger
	Samples   int           // tasks of bare asynq, and estimates with an authority that answers at once
	Slow      int           // estimates with an authority that takes its time
	Authority time.Duration // which is this for each call
}

// Latency measures single estimates of vehicles that are new to the service, one
// after the other on an idle service: with a SIMULATED authority that answers at once,
// beside the same number of bare asynq tasks, and with one that takes its time.
func Latency(ctx context.Context, out io.Writer, o LatencyOptions) ([]rig.Number, error) {
	o.Samples, o.Slow = max(o.Samples, 1), max(o.Slow, 1)
	pages, paths, err := rig.Vehicles()
	if err != nil {
		return nil, err
	}
	if o.Samples+o.Slow >= len(paths) {
		return nil, fmt.Errorf("lab: there are only %d vehicles", len(paths))
	}
	service, err := rig.Start(ctx, rig.Options{Redis: o.Redis, Log: o.Log, Pages: pages})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	if err := service.AwaitCatalogue(ctx); err != nil {
		return nil, err
	}
	bare, err := idleLatency(ctx, service.Redis, o.Samples)
	if err != nil {
		return nil, err
	}
	if _, err := estimateEach(ctx, service, paths[:1]); err != nil { // it reads the list of the make
		return nil, err
	}
	instant, err := estimateEach(ctx, service, paths[1:1+o.Samples])
	if err != nil {
		return nil, err
	}
	service.Authority.SetFaults(tratest.Faults{Latency: tratest.Duration(o.Authority)})
	slow, err := estimateEach(ctx, service, paths[1+o.Samples:1+o.Samples+o.Slow])
	if err != nil {
		return nil, err
	}
	for _, row := range []struct {
		name string
		took []time.Duration
	}{
		{"bare asynq task, from enqueuing to its handler", bare},
		{"estimate of a new vehicle", instant},
		{fmt.Sprintf("the same when each call of the authority takes %s", o.Authority), slow},
	} {
		if _, err := fmt.Fprintf(out, "%-58s %4d times: p50 %-10s p95 %-10s max %s\n", row.name, len(row.took),
			rig.Quantile(row.took, 0.50), rig.Quantile(row.took, 0.95), rig.Quantile(row.took, 1)); err != nil {
			return nil, err
		}
	}
	return latencyNumbers(o.Authority, bare, instant, slow), nil
}

func latencyNumbers(authority time.Duration, bare, instant, slow []time.Duration) []rig.Number {
	const half, most, calls = 0.5, 65, 2
	steps := rig.Millis(rig.StepsOfEstimate * rig.Quantile(bare, half))
	return []rig.Number{
		{
			Name:     "idle estimate of a new vehicle, upstreams that answer at once, p50",
			Measured: rig.Millis(rig.Quantile(instant, half)),
			Baseline: steps.As(fmt.Sprintf("%d idle tasks of bare asynq", rig.StepsOfEstimate)),
			Aim:      rig.Aim{AtMost: most},
		},
		{
			Name:     fmt.Sprintf("idle estimate of a new vehicle, each call of the authority takes %s, p50", authority),
			Measured: rig.Millis(rig.Quantile(slow, half)), Baseline: rig.Millis(authority).As("one call"),
			Aim: rig.Aim{AtMost: calls, Ratio: true},
		},
	}
}

// estimateEach requests an estimate of each car, one after the other.
func estimateEach(ctx context.Context, service *rig.Service, paths []string) ([]time.Duration, error) {
	took := make([]time.Duration, len(paths))
	for i, path := range paths {
		var err error
		if took[i], err = service.Estimate(ctx, service.Site+path); err != nil {
			return nil, err
		}
	}
	return took, nil
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
