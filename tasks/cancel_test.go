package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

var oneCar = tasks.EstimateInput{URL: "https://a.example/1"}

func requestCar(f *enginetest.Rig, owner string, class jobs.Class, subscriber string) *jobs.Job {
	f.TB.Helper()
	return f.Submit(tasks.KindEstimate, oneCar, tasks.Requester{Owner: owner, Class: class, Subscriber: subscriber})
}

// noBatches is the notifier of batch rows of tests that have none.
func noBatches(context.Context, *jobs.Job, []string) error { return nil }

func TestCancelForEndsOnlyTheCallersInterest(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	job := requestCar(f, "key1", jobs.Interactive, "")
	if _, err := f.CancelFor(t.Context(), job.ID, "key2"); !errors.Is(err, tasks.ErrNotRequester) {
		t.Errorf("a key that did not ask: %v", err)
	}
	if again := requestCar(f, "key2", jobs.Interactive, ""); again.ID != job.ID {
		t.Fatal("not joined")
	}
	if job, err := f.CancelFor(t.Context(), job.ID, "key1"); !errors.Is(err, tasks.ErrStillNeeded) || job.State.Ended() {
		t.Errorf("another waits: %v, %+v", err, job)
	}
	if job, err := f.CancelFor(t.Context(), job.ID, "key2"); err != nil || job.State != jobs.Cancelled {
		t.Errorf("the last one: %v, %+v", err, job)
	}
	if job, err := f.CancelFor(t.Context(), job.ID, "key2"); err != nil || job.State != jobs.Cancelled {
		t.Errorf("twice: %v, %+v", err, job)
	}
	if again := requestCar(f, "key1", jobs.Interactive, ""); again.ID == job.ID {
		t.Error("a cancelled job is joined")
	}
}

func TestCancelledComparisonReleasesItsChildren(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	parent := submit(f, tasks.KindCompare, bothCars, "")
	shared := requestCar(f, "other", jobs.Interactive, "") // car 1 is also a request of another caller
	car2 := parent.Children[tasks.ChildCar2].Job
	if shared.ID != parent.Children[tasks.ChildCar1].Job {
		t.Fatal("not joined")
	}
	if _, err := f.CancelFor(t.Context(), parent.ID, "key"); err != nil {
		t.Fatal(err)
	}
	if f.Get(shared.ID).State.Ended() || f.Get(car2).State != jobs.Cancelled {
		t.Errorf("car 1 %s, car 2 %s", f.Get(shared.ID).State, f.Get(car2).State)
	}
}

// A person asks for what waits in a batch: the step changes the queue, and
// nothing is looked at twice for it.
func TestInteractiveRequestPromotesABulkJob(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t, enginetest.WithNotifier("batch", noBatches))
	job := requestCar(f, "key1", jobs.Bulk, "batch:1")
	if job.Class != jobs.Bulk {
		t.Fatalf("%+v", job)
	}
	if promoted := requestCar(f, "key2", jobs.Interactive, ""); promoted.ID != job.ID || promoted.Class != jobs.Interactive {
		t.Fatalf("%+v", promoted)
	}
	step := f.Get(job.ID).Steps[tasks.StepScrape]
	if _, err := f.Queues.GetTaskInfo(tasks.QueueAny, fmt.Sprintf("%s.scrape.%d", job.ID, step.Attempt)); err != nil {
		t.Errorf("attempt %d is not in the queue of persons: %v", step.Attempt, err)
	}
	if left, err := f.Queues.ListPendingTasks(tasks.QueueAny + tasks.BulkSuffix); err == nil && len(left) > 0 {
		t.Errorf("%d tasks left in the queue of batches", len(left))
	}
	if again := requestCar(f, "key3", jobs.Interactive, ""); again.Steps[tasks.StepScrape].Attempt != step.Attempt {
		t.Error("promoted twice")
	}
	for class, want := range map[jobs.Class]int64{jobs.Interactive: 1, jobs.Bulk: 0} {
		if n := f.Redis.ZCard(t.Context(), "jobs:active:"+string(class)).Val(); n != want {
			t.Errorf("%d jobs are looked at as %s, want %d", n, class, want)
		}
	}
	f.Succeed(job.ID, withoutSheet)
	if n := f.Redis.ZCard(t.Context(), "jobs:active:"+string(jobs.Interactive)).Val(); n != 0 {
		t.Errorf("%d jobs are looked at after the end", n)
	}
}

// beforeMove calls a function once, before the first command that takes a job from the sweeper's set
// of bulk jobs.
func beforeMove(call func() error) redistest.Hook {
	var called atomic.Bool
	return func(command redis.Cmder) error {
		if command.Name() != "zrem" || command.Args()[1] != "jobs:active:bulk" || called.Swap(true) {
			return nil
		}
		return call()
	}
}

// TestAPromotionThatFailsLeavesTheTaskOfTheBatch: Redis takes the sweeper's entry no more. The next
// try promotes the job.
func TestAPromotionThatFailsLeavesTheTaskOfTheBatch(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t, enginetest.WithNotifier("batch", noBatches))
	job := requestCar(f, "key1", jobs.Bulk, "batch:1")
	f.Redis.AddHook(beforeMove(func() error { return io.ErrUnexpectedEOF }))
	person := tasks.Requester{Owner: "key2", Class: jobs.Interactive}
	if promoted, err := f.Engine.Submit(t.Context(), tasks.KindEstimate, oneCar, person); err == nil {
		t.Errorf("got %+v without an error", promoted)
	}
	if now := f.Get(job.ID); now.Class != jobs.Bulk || now.Steps[tasks.StepScrape].Attempt != 1 {
		t.Errorf("got a job that is %s with the steps %+v, want it as it was", now.Class, now.Steps)
	}
	again := requestCar(f, "key2", jobs.Interactive, "")
	task := fmt.Sprintf("%s.scrape.%d", job.ID, again.Steps[tasks.StepScrape].Attempt)
	if _, err := f.Queues.GetTaskInfo(tasks.QueueAny, task); err != nil || again.Class != jobs.Interactive {
		t.Errorf("the next try: got %+v, %v", again, err)
	}
}

// TestWhoJoinsARowAsItEndsGetsItsResult, which the cache alone has.
func TestWhoJoinsARowAsItEndsGetsItsResult(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	row := requestCar(f, "key", jobs.Bulk, tasks.RowSubscriber("1", 0))
	f.Redis.AddHook(beforeMove(func() error {
		f.Succeed(row.ID, `{"car":{"make":"TOYOTA"},"cached":false}`)
		return nil
	}))
	joined, err := f.Engine.Submit(t.Context(), tasks.KindEstimate, oneCar, tasks.Requester{Owner: "person", Class: jobs.Interactive})
	if err != nil || joined.ID != row.ID || joined.State != jobs.Succeeded || !strings.Contains(string(joined.Result), "TOYOTA") {
		t.Errorf("got %+v, %v, want the row's job with its result", joined, err)
	}
}

// A process that dies right after it noted the promotion: the sweep does the
// rest.
func TestSweepCompletesAPromotion(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t, enginetest.WithNotifier("batch", noBatches))
	job := requestCar(f, "key1", jobs.Bulk, "batch:1")
	f.Redis.HSet(t.Context(), "job:{"+job.ID[26:]+"}:"+job.ID, "promoted", 1)
	for _, class := range []jobs.Class{jobs.Bulk, jobs.Interactive} {
		key := "jobs:active:" + string(class)
		for _, id := range f.Redis.ZRange(t.Context(), key, 0, -1).Val() {
			f.Redis.ZAdd(t.Context(), key, redis.Z{Score: 1, Member: id})
		}
		if _, _, err := f.Engine.Sweep(t.Context(), class, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	f.Redis.ZAdd(t.Context(), "jobs:active:interactive", redis.Z{Score: 1, Member: job.ID})
	if _, _, err := f.Engine.Sweep(t.Context(), jobs.Interactive, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	step := f.Get(job.ID).Steps[tasks.StepScrape]
	if _, err := f.Queues.GetTaskInfo(tasks.QueueAny, fmt.Sprintf("%s.scrape.%d", job.ID, step.Attempt)); err != nil {
		t.Errorf("attempt %d is not in the queue of persons: %v", step.Attempt, err)
	}
	if n := f.Redis.ZCard(t.Context(), "jobs:active:"+string(jobs.Bulk)).Val(); n != 0 {
		t.Errorf("%d jobs are looked at as bulk", n)
	}
}

func TestRequestersGetTheEventOfTheEnd(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	hooks := webhook.NewStore(f.Redis, nil)
	endpoint, _, err := hooks.Add(t.Context(), "key1", webhook.NewID(), "https://receiver.example/", []string{webhook.JobCompleted})
	if err != nil {
		t.Fatal(err)
	}
	job := requestCar(f, "key1", jobs.Interactive, "")
	requestCar(f, "key2", jobs.Interactive, "")
	f.Succeed(job.ID, withoutSheet)
	if err := f.Advance(t.Context(), job.ID); err != nil { // settled twice
		t.Fatal(err)
	}
	deliveries, err := hooks.Deliveries(t.Context(), "key1", endpoint.ID, 10)
	deliveries = slices.DeleteFunc(deliveries, func(d webhook.Delivery) bool { return d.Event == "webhook.verification" })
	if err != nil || len(deliveries) != 1 || deliveries[0].Event != webhook.JobCompleted {
		t.Errorf("%v, %+v", err, deliveries)
	}
}
