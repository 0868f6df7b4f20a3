package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
)

// broom is an engine with one job whose first step is in the queue, and a
// clock that the test moves.
type broom struct {
	t      *testing.T
	server *miniredis.Miniredis
	client *redis.Client
	engine *Engine
	job    *jobs.Job
	class  jobs.Class
	now    time.Time
}

func newBroom(t *testing.T) *broom {
	t.Helper()
	return newBroomOf(t, jobs.Interactive)
}

func newBroomOf(t *testing.T, class jobs.Class) *broom {
	t.Helper()
	b := &broom{t: t, server: miniredis.RunT(t), class: class, now: time.Now().Truncate(time.Second)}
	b.server.SetTime(b.now)
	b.client = redis.NewClient(&redis.Options{Addr: b.server.Addr()})
	t.Cleanup(func() { _ = b.client.Close() })
	b.engine = newEngine(b.client)
	var err error
	b.job, err = b.engine.Estimate(t.Context(), "https://a.example/1", "key", class)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sweep lets time pass, then sweeps and returns the first step as it is then.
func (b *broom) sweep(after time.Duration) jobs.Step {
	b.t.Helper()
	b.now = b.now.Add(after)
	b.server.SetTime(b.now)
	if _, _, err := b.engine.Sweep(b.t.Context(), b.class, func() bool { return true }); err != nil {
		b.t.Fatal(err)
	}
	job, err := b.engine.jobs.Get(b.t.Context(), b.job.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return job.Steps[StepScrape]
}

func (b *broom) taskState(attempt int) asynq.TaskState {
	b.t.Helper()
	info, err := b.engine.inspector.GetTaskInfo(QueueAny, taskID(b.job.ID, StepScrape, attempt))
	if err != nil {
		b.t.Fatal(err)
	}
	return info.State
}

// dequeue has a server take the task to a handler that never comes to claim
// the step.
func (b *broom) dequeue() {
	b.t.Helper()
	taken := make(chan struct{})
	stop := make(chan struct{})
	server := asynq.NewServerFromRedisClient(b.client, asynq.Config{
		Queues: map[string]int{QueueAny: 1, QueueAny + BulkSuffix: 1}, Concurrency: 1, TaskCheckInterval: time.Millisecond,
		LogLevel: asynq.FatalLevel, ShutdownTimeout: time.Millisecond,
	})
	err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		close(taken)
		<-stop
		return errors.New("never mind")
	}))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		close(stop)
		server.Shutdown()
	})
	select {
	case <-taken:
	case <-time.After(10 * time.Second):
		b.t.Fatal("the task was not taken")
	}
	server.Stop()
}

func TestSweepLeavesWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	for range 20 {
		if step := b.sweep(4 * time.Second); step.Attempt != 1 || step.State != jobs.StepReady {
			t.Fatalf("%+v", step)
		}
	}
	if b.taskState(1) != asynq.TaskStatePending {
		t.Fatal("the task is not in line any more")
	}
}

func TestSweepBringsBackWhatWasCleared(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	if err := b.engine.inspector.DeleteTask(QueueAny, taskID(b.job.ID, StepScrape, 1)); err != nil {
		t.Fatal(err)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 1 || b.taskState(1) != asynq.TaskStatePending {
		t.Fatalf("%+v", step)
	}
}

func TestSweepGivesAnArchivedStepToAnother(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	if err := b.engine.inspector.ArchiveTask(QueueAny, taskID(b.job.ID, StepScrape, 1)); err != nil {
		t.Fatal(err)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 2 || b.taskState(2) != asynq.TaskStatePending {
		t.Fatalf("%+v", step)
	}
}

func TestSweepWaitsForAClaimBeforeItGivesAStepAway(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	b.sweep(time.Minute) // it has waited long: that alone is no sign
	b.dequeue()
	if step := b.sweep(4 * time.Second); step.Attempt != 1 {
		t.Fatalf("given away at first sight: %+v", step)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 2 {
		t.Fatalf("the task was taken and nobody claimed the step: %+v", step)
	}
}

// A batch's step waits long in the queue, and is looked at seldom; not so once
// it looks lost.
func TestSweepGivesABatchsLostStepAwayWithinSeconds(t *testing.T) {
	t.Parallel()
	b := newBroomOf(t, jobs.Bulk)
	b.sweep(4 * time.Second)
	b.dequeue() // by a worker that dies before it claims the step
	const within = recheckBulk + claimTimeout + 2*recheckRunning
	for waited := time.Duration(0); b.sweep(time.Second).Attempt == 1; {
		if waited += time.Second; waited > within {
			t.Fatalf("nobody has the step after %v", waited)
		}
	}
}

func TestSweepLeavesAStepThatWasClaimedAfterAll(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	b.dequeue()
	b.sweep(4 * time.Second)
	if err := b.engine.jobs.Heartbeat(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.engine.jobs.Claim(t.Context(), b.job.ID, StepScrape, 1, "w", "c"); err != nil {
		t.Fatal(err)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 1 || step.Claim != "c" {
		t.Fatalf("%+v", step)
	}
}

func TestSweepEndsWhatIsPastItsDeadline(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	b.sweep(workflows[KindEstimate].deadline + time.Minute)
	job, err := b.engine.jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State != jobs.Failed || job.Error.Code != "deadline_exceeded" {
		t.Fatalf("%+v, %v", job, err)
	}
}

func TestSweepGivesUpOnAStepThatTakesItsWorkersDown(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	for attempt := 1; attempt <= MaxAttempts; attempt++ {
		verdict, _, err := b.engine.jobs.Claim(t.Context(), b.job.ID, StepScrape, attempt, "dead", "c")
		if err != nil || verdict != jobs.Claimed {
			t.Fatalf("attempt %d: %s, %v", attempt, verdict, err)
		}
		b.sweep(4 * time.Second)
	}
	job, err := b.engine.jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State != jobs.Failed || job.Error.Code != "worker_lost" {
		t.Fatalf("%+v, %v", job, err)
	}
}

func TestResultThatCannotBeKeptIsGivenAtTheDeadline(t *testing.T) {
	t.Parallel()
	b := newBroom(t)
	b.engine.beforeSucceed = func(context.Context, *jobs.Job, json.RawMessage) error { return errors.New("no room") }
	for _, step := range []string{StepScrape, StepMatch, StepCalculate} {
		output := map[string]string{StepScrape: scraped, StepMatch: chosen, StepCalculate: calculated}[step]
		if _, err := b.engine.jobs.Complete(t.Context(), b.job.ID, step, []byte(output)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.engine.Advance(t.Context(), b.job.ID); err == nil {
		t.Fatal("the failure was not reported")
	}
	job, err := b.engine.jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State.Ended() {
		t.Fatalf("%+v, %v", job, err)
	}
	job.Deadline = time.Now().Add(-time.Second)
	if err := b.engine.advanceFrom(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job, err = b.engine.jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State != jobs.Succeeded {
		t.Fatalf("%+v, %v", job, err)
	}
}
