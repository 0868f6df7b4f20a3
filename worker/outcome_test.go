package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// serverRig is a job whose first step is run by a real asynq server that tries
// again at once.
type serverRig struct {
	t         *testing.T
	store     *jobs.Store
	server    *asynq.Server
	inspector *asynq.Inspector
	id        string
}

func newServerRig(t *testing.T, scrape stepFunc) *serverRig {
	t.Helper()
	return newServerRigOf(t, jobs.Interactive, scrape)
}

func newServerRigOf(t *testing.T, class jobs.Class, scrape stepFunc) *serverRig {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { _ = client.Close() })
	store := jobs.NewStore(client)
	engine := enginetest.NewEngine(client)
	config := ServerConfig(tasks.QueuesOf(tasks.RoleAny), 1, 100*time.Millisecond, slog.New(slog.DiscardHandler))
	config.RetryDelayFunc = func(_ int, err error, _ *asynq.Task) time.Duration {
		if tasks.IsFailure(err) {
			return 0
		}
		return time.Hour
	}
	s := &serverRig{
		t: t, store: store, inspector: asynq.NewInspectorFromRedisClient(client),
		server: asynq.NewServerFromRedisClient(client, config),
	}
	handler := &stepHandler{
		engine: engine, jobs: store, turns: pace.NewProcessor(2), worker: "w", log: slog.New(slog.DiscardHandler), writeTimeout: 10 * time.Second,
		run: map[string]stepFunc{tasks.TypeScrape: scrape},
	}
	if err := s.server.Start(handler); err != nil {
		t.Fatal(err)
	}
	job, err := engine.Estimate(t.Context(), "https://a.example/1", "key", class)
	if err != nil {
		t.Fatal(err)
	}
	s.id = job.ID
	return s
}

// until reads the job and its task until both are as wanted.
func (s *serverRig) until(wanted func(*jobs.Job, *asynq.TaskInfo) bool) {
	s.t.Helper()
	var (
		job  *jobs.Job
		info *asynq.TaskInfo
		err  error
	)
	testenv.Await(s.t, "the job and its task", func() (any, bool) {
		if job, err = s.store.Get(s.t.Context(), s.id); err == nil {
			info, err = s.inspector.GetTaskInfo(tasks.QueueAny, s.id+".scrape.1")
		}
		return fmt.Sprintf("%+v, %+v, %v", job, info, err), err == nil && wanted(job, info)
	})
}

// lastAttempt fails until no retry is left, then calls then.
func lastAttempt(then stepFunc) stepFunc {
	return func(ctx context.Context, job *jobs.Job) (any, error) {
		policy, _ := tasks.PolicyOf(tasks.TypeScrape)
		if job.Steps[tasks.StepScrape].Retries < policy.MaxRetries {
			return nil, errors.New("hung up")
		}
		return then(ctx, job)
	}
}

func TestSnoozeOnTheLastAttemptIsNotARetry(t *testing.T) {
	t.Parallel()
	s := newServerRig(t, lastAttempt(fails(tasks.Snooze(time.Minute, errors.New("the site wants a minute")))))
	defer s.server.Shutdown()
	s.until(func(job *jobs.Job, info *asynq.TaskInfo) bool {
		if info.State == asynq.TaskStateArchived || job.State.Ended() {
			t.Fatalf("task %s, job %s: %v", info.State, job.State, job.Error)
		}
		waits := info.State == asynq.TaskStateRetry && time.Until(info.NextProcessAt) > time.Minute
		return waits && job.Steps[tasks.StepScrape].State == jobs.StepReady
	})
}

func TestStoppingProcessFailsNoJob(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	s := newServerRig(t, lastAttempt(func(ctx context.Context, _ *jobs.Job) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	<-begun
	s.server.Shutdown() // the step is cut short on its last try
	s.until(func(job *jobs.Job, info *asynq.TaskInfo) bool {
		if job.State.Ended() {
			t.Fatalf("%s: %v", job.State, job.Error)
		}
		return info.State == asynq.TaskStatePending && job.Steps[tasks.StepScrape].State == jobs.StepReady
	})
}

// No caller waits for a row of a batch: an upstream that fails sometimes costs it
// time, not its result.
func TestBulkStepsAreRetriedMoreOften(t *testing.T) {
	t.Parallel()
	for class, want := range map[jobs.Class]int64{jobs.Interactive: 5, jobs.Bulk: 13} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			var runs atomic.Int64
			s := newServerRigOf(t, class, func(context.Context, *jobs.Job) (any, error) {
				runs.Add(1)
				return nil, tasks.Transient(message.Notice{Code: "fetch_failed", Message: "The site answered with status 500."}, 0, nil)
			})
			defer s.server.Shutdown()
			deadline, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			hub := jobs.NewHub(s.store)
			go hub.Run(deadline)
			waited := hub.WaitEnded(deadline, s.id)
			job, err := s.store.Get(t.Context(), s.id)
			if waited != nil || err != nil || job.State != jobs.Failed || job.Error.Code != "fetch_failed" || runs.Load() != want {
				t.Errorf("%+v, %v after %d runs, want %d", job, err, runs.Load(), want)
			}
		})
	}
}
