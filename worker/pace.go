package worker

import (
	"context"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/tasks"
)

// pace says how often a worker looks into Redis while it is idle.
type pace struct {
	far          bool          // Redis is far away, and other workers are near it
	sweep        time.Duration // between two sweeps of the active jobs
	batches      time.Duration // between two checks of the active batches
	interactive  time.Duration // between two looks for a task of a person
	bulk         time.Duration // between two looks for a task of a batch
	delayed      time.Duration // between two looks for tasks whose delay is over
	expiredTasks time.Duration // between two deletions of completed tasks; 0 is asynq's default
}

const (
	// farRoundTrip is the round trip from which on Redis is far away.
	farRoundTrip = 50 * time.Millisecond
	roundTrips   = 3 // that are measured; the shortest counts
	// slotsPerFetcher is for how many slots one server fetches the tasks of batches:
	// three a second at a round trip of a third of a second. An idle server costs 10 MB
	// a day.
	slotsPerFetcher = 16
)

// paceOf measures the way to Redis. A worker that only calls the authority, far from
// Redis, leaves the sweeps to the workers that are near, and looks less often: each
// look is traffic on a long line.
func (w *Worker) paceOf(ctx context.Context) pace {
	near := pace{
		sweep: sweepInterval, batches: batchCheckInterval / 2,
		interactive: taskCheckInterval, bulk: taskCheckInterval, delayed: delayedCheckInterval,
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
	w.options.Log.Info("Redis is far away", "round_trip_ms", shortest.Milliseconds())
	return pace{
		far: true, sweep: 15 * time.Second, batches: 30 * time.Second,
		interactive: time.Second, bulk: 5 * time.Second, delayed: 10 * time.Second, expiredTasks: time.Hour,
	}
}

// queueServer is one asynq server: it fetches one task at a time, whatever its
// concurrency.
type queueServer struct {
	queues      map[string]int
	concurrency int
	check       time.Duration
}

// serversOf returns the servers of a role. Each class has its own, with slots of its
// own, so that a task of a person waits neither for the slots nor for the fetches of a
// batch; far from Redis and with many slots several servers fetch the tasks of batches.
func (p pace) serversOf(role tasks.Role, concurrency int) []queueServer {
	var servers []queueServer
	for name, weight := range tasks.QueuesOf(role) {
		if !tasks.IsBulkQueue(name) {
			servers = append(servers, queueServer{map[string]int{name: weight}, concurrency, p.interactive})
			continue
		}
		fetchers := 1
		if p.far {
			fetchers = max(1, concurrency/slotsPerFetcher)
		}
		for range fetchers {
			servers = append(servers, queueServer{map[string]int{name: weight}, concurrency / fetchers, p.bulk})
		}
	}
	return servers
}

// config returns the configuration of a server.
func (p pace) config(base asynq.Config, server queueServer) asynq.Config {
	base.TaskCheckInterval, base.DelayedTaskCheckInterval, base.JanitorInterval = server.check, p.delayed, p.expiredTasks
	return base
}
