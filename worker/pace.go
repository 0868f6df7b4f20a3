package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

// pace says how often a worker looks into Redis while it is idle.
type pace struct {
	far          bool          // Redis is far away, and other workers are near it
	sweep        time.Duration // between two sweeps of the active jobs
	batches      time.Duration // between two checks of the active batches
	register     time.Duration // between two registrations of the queues
	interactive  time.Duration // far away: between two looks for a task of a person
	bulk         time.Duration // far away: between two looks for a task of a batch
	delayed      time.Duration // far away: between two looks for tasks whose delay is over
	expiredTasks time.Duration // far away: between two deletions of completed tasks
}

const (
	// farRoundTrip is the round trip from which on Redis is far away.
	farRoundTrip = 50 * time.Millisecond
	roundTrips   = 3 // that are measured; the shortest counts
	// farLookInterval is how often asynq looks for a task that was fetched.
	farLookInterval = 10 * time.Millisecond
	// farServerSlots is how many times as many slots asynq has as may be used: a task
	// keeps that of asynq until Redis knows its end. Both classes have theirs.
	farServerSlots = 6
	// farBulkSlots is how many times as many slots the tasks of batches have.
	farBulkSlots = 2
)

// paceOf measures the way to Redis. A worker that only calls the authority, far from
// Redis, leaves the sweeps to the workers that are near, and looks less often: each
// look is traffic on a long line. Messages tell it of new tasks.
func (w *Worker) paceOf(ctx context.Context) pace {
	near := pace{
		sweep: sweepInterval, batches: batchCheckInterval / 2,
		register: registerInterval,
	}
	if !slices.Equal(w.options.Roles, []tasks.Role{tasks.RoleAuthority}) {
		return near
	}
	shortest := time.Hour
	for range roundTrips {
		start := time.Now()
		if err := w.options.Redis.Ping(ctx).Err(); err != nil {
			return near
		}
		shortest = min(shortest, time.Since(start))
	}
	if shortest < farRoundTrip {
		return near
	}
	w.options.Log.Info("Redis is far away", "round_trip", shortest)
	redisx.Gather(w.options.Redis)
	return pace{
		far: true, sweep: 30 * time.Second, batches: time.Minute, register: time.Minute,
		interactive: 10 * time.Second, bulk: 30 * time.Second, delayed: 30 * time.Second, expiredTasks: time.Hour,
	}
}

// startServers starts the asynq servers of a role. Near Redis each class has a server of its own, so that a task of a person
// waits neither for the slots nor for the fetches of a batch. Far away one server is
// enough, whose client fetches the queues (farQueues).
func (w *Worker) startServers(ctx context.Context, role tasks.Role, slots int, paced pace, handler asynq.Handler) error {
	o := w.options
	if paced.far {
		// A failure costs the first vehicle a few round trips.
		_ = errors.Join(o.Catalogue.LoadScripts(ctx), o.Jobs.LoadScripts(ctx))
		queues := newFarQueues(ctx, o.Redis, role, slots, paced, o.Refused)
		w.loops.Go(queues.wait)
		config := ServerConfig(tasks.QueuesOf(role), farServerSlots*slots, o.ShutdownTimeout, o.Log)
		config.TaskCheckInterval = farLookInterval
		config.DelayedTaskCheckInterval, config.JanitorInterval = paced.delayed, paced.expiredTasks
		return w.startServer(asynq.NewServerFromRedisClient(queues, config), queues.middleware(handler))
	}
	for name, weight := range tasks.QueuesOf(role) {
		config := ServerConfig(map[string]int{name: weight}, slots, o.ShutdownTimeout, o.Log)
		if err := w.startServer(asynq.NewServerFromRedisClient(o.Redis, config), handler); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) startServer(server *asynq.Server, handler asynq.Handler) error {
	if err := server.Start(handler); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	w.servers = append(w.servers, server)
	return nil
}
