package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// sweepRig is an engine with one job whose first step is enqueued.
type sweepRig struct {
	*enginetest.Rig

	job   *jobs.Job
	class jobs.Class
}

func newSweepRig(t *testing.T, class jobs.Class, change ...func(*tasks.Options)) *sweepRig {
	t.Helper()
	r := enginetest.New(t, change...)
	r.Pass(0)
	return &sweepRig{r, r.Submit(tasks.KindEstimate, oneCar, tasks.Requester{Owner: "key", Class: class}), class}
}

// sweep lets time pass, sweeps, and returns the first step as it is then.
func (b *sweepRig) sweep(after time.Duration) jobs.Step {
	b.TB.Helper()
	b.Sweep(after, b.class)
	return b.Get(b.job.ID).Steps[tasks.StepScrape]
}

func (b *sweepRig) taskID(attempt int) string {
	return fmt.Sprintf("%s.%s.%d", b.job.ID, tasks.StepScrape, attempt)
}

func (b *sweepRig) taskState(attempt int) asynq.TaskState {
	b.TB.Helper()
	info, err := b.Queues.GetTaskInfo(tasks.QueueAny, b.taskID(attempt))
	if err != nil {
		b.TB.Fatal(err)
	}
	return info.State
}

// dequeue has a server take the task to a handler that never comes to claim
// the step.
func (b *sweepRig) dequeue() {
	b.TB.Helper()
	taken := make(chan struct{})
	stop := make(chan struct{})
	server := asynq.NewServerFromRedisClient(b.Redis, asynq.Config{
		Queues: map[string]int{tasks.QueueAny: 1, tasks.QueueAny + tasks.BulkSuffix: 1}, Concurrency: 1, TaskCheckInterval: time.Millisecond,
		LogLevel: asynq.FatalLevel, ShutdownTimeout: time.Millisecond,
	})
	err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		close(taken)
		<-stop
		return errors.New("never mind")
	}))
	if err != nil {
		b.TB.Fatal(err)
	}
	b.TB.Cleanup(func() {
		close(stop)
		server.Shutdown()
	})
	select {
	case <-taken:
	case <-time.After(10 * time.Second):
		b.TB.Fatal("the task was not taken")
	}
	server.Stop()
}

func TestSweepKeepsAQueuedStep(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	for range 20 {
		if step := b.sweep(4 * time.Second); step.Attempt != 1 || step.State != jobs.StepReady {
			t.Fatalf("%+v", step)
		}
	}
	if b.taskState(1) != asynq.TaskStatePending {
		t.Fatal("the task is not in line any more")
	}
}

func TestSweepEnqueuesADeletedTaskAgain(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	if err := b.Queues.DeleteTask(tasks.QueueAny, b.taskID(1)); err != nil {
		t.Fatal(err)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 1 || b.taskState(1) != asynq.TaskStatePending {
		t.Fatalf("%+v", step)
	}
}

func TestSweepRequeuesAnArchivedStep(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	if err := b.Queues.ArchiveTask(tasks.QueueAny, b.taskID(1)); err != nil {
		t.Fatal(err)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 2 || b.taskState(2) != asynq.TaskStatePending {
		t.Fatalf("%+v", step)
	}
}

func TestSweepWaitsForAClaimBeforeItRequeues(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	b.sweep(time.Minute) // it has waited long: that alone is no sign
	b.dequeue()
	if step := b.sweep(4 * time.Second); step.Attempt != 1 {
		t.Fatalf("given away at first sight: %+v", step)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 2 {
		t.Fatalf("the task was taken and no worker claimed the step: %+v", step)
	}
}

// A bulk step is checked rarely while it waits, and often once it seems lost.
func TestSweepRequeuesALostBulkStepWithinSeconds(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Bulk)
	b.sweep(4 * time.Second)
	b.dequeue() // by a worker that dies before it claims the step
	const within = tasks.RecheckBulk + tasks.ClaimTimeout + 2*tasks.RecheckRunning
	for waited := time.Duration(0); b.sweep(time.Second).Attempt == 1; {
		if waited += time.Second; waited > within {
			t.Fatalf("no worker has the step after %v", waited)
		}
	}
}

func TestSweepKeepsAStepThatWasClaimedLate(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	b.dequeue()
	b.sweep(4 * time.Second)
	if err := b.Jobs.Heartbeat(t.Context(), "w", jobs.Presence{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Jobs.Claim(t.Context(), b.job.ID, tasks.StepScrape, 1, "w", "c"); err != nil {
		t.Fatal(err)
	}
	if step := b.sweep(4 * time.Second); step.Attempt != 1 || step.Claim != "c" {
		t.Fatalf("%+v", step)
	}
}

func TestSweepFailsAJobPastItsDeadline(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	b.sweep(11 * time.Minute)
	job, err := b.Jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State != jobs.Failed || job.Error.Code != "deadline_exceeded" {
		t.Fatalf("%+v, %v", job, err)
	}
}

func TestSweepFailsAStepThatCrashesItsWorkers(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive)
	for attempt := 1; attempt <= tasks.MaxAttempts; attempt++ {
		verdict, _, err := b.Jobs.Claim(t.Context(), b.job.ID, tasks.StepScrape, attempt, "dead", "c")
		if err != nil || verdict != jobs.Claimed {
			t.Fatalf("attempt %d: %s, %v", attempt, verdict, err)
		}
		b.sweep(4 * time.Second)
	}
	job, err := b.Jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State != jobs.Failed || job.Error.Code != "worker_lost" {
		t.Fatalf("%+v, %v", job, err)
	}
}

func TestResultThatCannotBeCachedIsReturnedAtTheDeadline(t *testing.T) {
	t.Parallel()
	b := newSweepRig(t, jobs.Interactive, func(o *tasks.Options) {
		o.BeforeSucceed = func(context.Context, *jobs.Job, json.RawMessage) error { return errors.New("no room") }
	})
	for _, step := range []string{tasks.StepScrape, tasks.StepMatch, tasks.StepCalculate} {
		output := map[string]string{tasks.StepScrape: `{}`, tasks.StepMatch: `{}`, tasks.StepCalculate: `{"input":{}}`}[step]
		if _, err := b.Jobs.Complete(t.Context(), b.job.ID, step, []byte(output), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Advance(t.Context(), b.job.ID); err == nil {
		t.Fatal("the failure was not reported")
	}
	job, err := b.Jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State.Ended() {
		t.Fatalf("%+v, %v", job, err)
	}
	job.Deadline = time.Now().Add(-time.Second)
	if err := tasks.AdvanceFrom(b.Engine, t.Context(), job); err != nil {
		t.Fatal(err)
	}
	job, err = b.Jobs.Get(t.Context(), b.job.ID)
	if err != nil || job.State != jobs.Succeeded {
		t.Fatalf("%+v, %v", job, err)
	}
}

// TestLostTasksOfAQueue: a task without a lease is active for ever, and an archived one stays
// for 90 days, if nobody looks.
func TestLostTasksOfAQueue(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client := conn.Client()
		queues, engine := asynq.NewInspectorFromRedisClient(client), enginetest.NewEngine(client)
		put := func(id string) {
			t.Helper()
			if _, err := asynq.NewClientFromRedisClient(client).Enqueue(asynq.NewTask("x", nil), asynq.TaskID(id), asynq.Queue("any")); err != nil {
				t.Fatal(err)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"orphan", "old", "new"} {
			put(id)
		}
		const base = "asynq:{any}:"
		do(client.LRem(t.Context(), base+"pending", 0, "orphan").Err())
		do(client.HSet(t.Context(), base+"t:orphan", "state", "active").Err())
		do(client.RPush(t.Context(), base+"active", "orphan", "leased", "nothing").Err())
		do(client.ZAdd(t.Context(), base+"lease", redis.Z{Score: 1, Member: "leased"}).Err())
		do(queues.ArchiveTask("any", "old"))
		do(queues.ArchiveTask("any", "new"))
		ago := float64(time.Now().Add(-8 * 24 * time.Hour).Unix())
		do(client.ZAdd(t.Context(), base+"archived", redis.Z{Score: ago, Member: "old"}).Err())

		for range 2 {
			do(engine.TidyQueues(t.Context()))
		}
		info, err := queues.GetTaskInfo("any", "orphan")
		if err != nil || info.State != asynq.TaskStatePending {
			t.Errorf("the active task without a lease: got %+v, %v, want it pending", info, err)
		}
		if active := client.LRange(t.Context(), base+"active", 0, -1).Val(); len(active) != 1 || active[0] != "leased" {
			t.Errorf("got %q active, want the one with a lease", active)
		}
		archived, err := queues.ListArchivedTasks("any")
		if err != nil || len(archived) != 1 || archived[0].ID != "new" {
			t.Errorf("got %+v, %v archived, want the new one alone", archived, err)
		}
	})
}
