package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"ushuru/pkg/jobs"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/plainjson"
	"ushuru/tasks"
	"ushuru/worker"
)

// chainedTask is the payload of a task of the plain chain: what the earlier steps
// have made travels with it.
type chainedTask struct {
	Input   json.RawMessage            `json:"input"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

// chain is what one would write with asynq alone: each step of an estimate is a
// task that enqueues the next one, and the last stores the result. There is no
// record, no deduplication, no batch and no recovery faster than asynq's own.
type chain struct {
	service *rig.Service
	client  *asynq.Client
	queues  map[string]string // by the queue of the service
	id      string
	left    atomic.Int64
	done    chan struct{}
	failed  chan error
}

// chained measures the same steps as those of a batch, chained by plain asynq:
// listings a second, on servers configured like those of the workers.
func chained(ctx context.Context, b *rig.Service, n int) (perSecond float64, err error) {
	const concurrencyAny, concurrencyAuthority, enqueuers = 16, 8, 8 // as a worker has
	c := &chain{
		service: b, client: asynq.NewClientFromRedisClient(b.Redis), id: ulid.Make().String(),
		done: make(chan struct{}), failed: make(chan error, 1),
	}
	c.queues = map[string]string{tasks.QueueAny: "bench_any_" + c.id, tasks.QueueAuthority: "bench_authority_" + c.id}
	c.left.Store(int64(n))
	for queue, concurrency := range map[string]int{tasks.QueueAny: concurrencyAny, tasks.QueueAuthority: concurrencyAuthority} {
		server := asynq.NewServerFromRedisClient(b.Redis, worker.ServerConfig(
			map[string]int{c.queues[queue]: 1}, concurrency, time.Second, slog.New(slog.DiscardHandler)))
		if err := server.Start(asynq.HandlerFunc(c.run)); err != nil {
			return 0, err
		}
		defer func() {
			server.Shutdown()
			_ = asynq.NewInspectorFromRedisClient(b.Redis).DeleteQueue(c.queues[queue], true)
		}()
	}
	start := time.Now()
	var group errgroup.Group
	group.SetLimit(enqueuers)
	for i := range n {
		group.Go(func() error {
			input, err := plainjson.Encode(tasks.EstimateInput{URL: rig.Listing(b.Site, "chained", i)})
			if err != nil {
				return err
			}
			return c.enqueue(ctx, tasks.TypeScrape, chainedTask{Input: input})
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case err := <-c.failed:
		return 0, err
	case <-c.done:
		return float64(n) / time.Since(start).Seconds(), nil
	}
}

func (c *chain) enqueue(ctx context.Context, taskType string, task chainedTask) error {
	policy, _ := tasks.PolicyOf(taskType)
	payload, err := plainjson.Encode(task)
	if err != nil {
		return err
	}
	_, err = c.client.EnqueueContext(ctx, asynq.NewTask(taskType, payload), asynq.Queue(c.queues[policy.Queue]),
		asynq.MaxRetry(policy.MaxRetriesFor(jobs.Bulk)), asynq.Timeout(policy.Timeout))
	return err
}

// run runs one step and enqueues the next.
func (c *chain) run(ctx context.Context, task *asynq.Task) error {
	err := c.step(ctx, task)
	if err != nil {
		select {
		case c.failed <- fmt.Errorf("lab: %s: %w", task.Type(), err):
		default:
		}
	}
	return err
}

func (c *chain) step(ctx context.Context, task *asynq.Task) error {
	var state chainedTask
	if err := json.Unmarshal(task.Payload(), &state); err != nil {
		return err
	}
	if state.Outputs == nil {
		state.Outputs = map[string]json.RawMessage{}
	}
	output, err := c.service.RunStep(ctx, task.Type(), &jobs.Job{
		Kind: tasks.KindEstimate, Class: jobs.Bulk, Input: state.Input, Outputs: state.Outputs,
	})
	if err != nil {
		return err
	}
	switch task.Type() {
	case tasks.TypeScrape:
		state.Outputs[tasks.StepScrape] = output
		return c.enqueue(ctx, tasks.TypeMatch, state)
	case tasks.TypeMatch:
		state.Outputs[tasks.StepMatch] = output
		return c.enqueue(ctx, tasks.TypeCalculate, state)
	}
	key := fmt.Sprintf("bench:%s:%d", c.id, c.left.Load())
	if err := c.service.Redis.Set(ctx, key, []byte(output), time.Hour).Err(); err != nil {
		return err
	}
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
	return nil
}
