package tasks

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
)

var oneCar = EstimateInput{URL: "https://a.example/1"}

func (f *family) ask(owner string, class jobs.Class, parent string) *jobs.Job {
	f.t.Helper()
	job, err := f.engine.Submit(f.t.Context(), KindEstimate, oneCar, Requester{Owner: owner, Class: class, Subscriber: parent})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.get(job.ID)
}

func TestACallerMayAbandonHisJobAlone(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	job := f.ask("key1", jobs.Interactive, "")
	if _, err := f.engine.CancelFor(t.Context(), job.ID, "key2"); !errors.Is(err, ErrNotRequester) {
		t.Errorf("a key that did not ask: %v", err)
	}
	if again := f.ask("key2", jobs.Interactive, ""); again.ID != job.ID {
		t.Fatal("not joined")
	}
	if job, err := f.engine.CancelFor(t.Context(), job.ID, "key1"); !errors.Is(err, ErrStillNeeded) || job.State.Ended() {
		t.Errorf("another waits: %v, %+v", err, job)
	}
	if job, err := f.engine.CancelFor(t.Context(), job.ID, "key2"); err != nil || job.State != jobs.Cancelled {
		t.Errorf("the last one: %v, %+v", err, job)
	}
	if job, err := f.engine.CancelFor(t.Context(), job.ID, "key2"); err != nil || job.State != jobs.Cancelled {
		t.Errorf("twice: %v, %+v", err, job)
	}
	if again := f.ask("key1", jobs.Interactive, ""); again.ID == job.ID {
		t.Error("a cancelled job is joined")
	}
}

func TestAnAbandonedComparisonLetsItsCarsGo(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	parent := f.submit(KindCompare, bothCars, "")
	shared := f.ask("other", jobs.Interactive, "") // car 1 is somebody else's question too
	car2 := parent.Children[ChildCar2].Job
	if shared.ID != parent.Children[ChildCar1].Job {
		t.Fatal("not joined")
	}
	if _, err := f.engine.CancelFor(t.Context(), parent.ID, "key"); err != nil {
		t.Fatal(err)
	}
	if f.get(shared.ID).State.Ended() || f.get(car2).State != jobs.Cancelled {
		t.Errorf("car 1 %s, car 2 %s", f.get(shared.ID).State, f.get(car2).State)
	}
}

// A person asks for what waits in a batch: the step changes the queue, and
// nothing is looked at twice for it.
func TestAPersonsRequestIsPromoted(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.engine.notifiers["batch"] = func(context.Context, *jobs.Job, []string) error { return nil }
	job := f.ask("key1", jobs.Bulk, "batch:1")
	if job.Class != jobs.Bulk {
		t.Fatalf("%+v", job)
	}
	if promoted := f.ask("key2", jobs.Interactive, ""); promoted.ID != job.ID || promoted.Class != jobs.Interactive {
		t.Fatalf("%+v", promoted)
	}
	step := f.get(job.ID).Steps[StepScrape]
	if _, err := f.engine.inspector.GetTaskInfo(QueueAny, taskID(job.ID, StepScrape, step.Attempt)); err != nil {
		t.Errorf("attempt %d is not in the queue of persons: %v", step.Attempt, err)
	}
	if left, err := f.engine.inspector.ListPendingTasks(QueueAny + BulkSuffix); err == nil && len(left) > 0 {
		t.Errorf("%d tasks left in the queue of batches", len(left))
	}
	if again := f.ask("key3", jobs.Interactive, ""); again.Steps[StepScrape].Attempt != step.Attempt {
		t.Error("promoted twice")
	}
	for class, want := range map[jobs.Class]int64{jobs.Interactive: 1, jobs.Bulk: 0} {
		if n := f.client.ZCard(t.Context(), "jobs:active:"+string(class)).Val(); n != want {
			t.Errorf("%d jobs are looked at as %s, want %d", n, class, want)
		}
	}
	f.succeed(job.ID, withoutSheet)
	if n := f.client.ZCard(t.Context(), "jobs:active:"+string(jobs.Interactive)).Val(); n != 0 {
		t.Errorf("%d jobs are looked at after the end", n)
	}
}

// A process that dies right after it noted the promotion: the sweep does the
// rest.
func TestAHalfPromotedJobIsMended(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.engine.notifiers["batch"] = func(context.Context, *jobs.Job, []string) error { return nil }
	job := f.ask("key1", jobs.Bulk, "batch:1")
	f.client.HSet(t.Context(), "job:{"+job.ID+"}", "promoted", 1)
	for _, class := range []jobs.Class{jobs.Bulk, jobs.Interactive} {
		key := "jobs:active:" + string(class)
		for _, id := range f.client.ZRange(t.Context(), key, 0, -1).Val() {
			f.client.ZAdd(t.Context(), key, redis.Z{Score: 1, Member: id})
		}
		if _, _, err := f.engine.Sweep(t.Context(), class, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	f.client.ZAdd(t.Context(), "jobs:active:interactive", redis.Z{Score: 1, Member: job.ID})
	if _, _, err := f.engine.Sweep(t.Context(), jobs.Interactive, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	step := f.get(job.ID).Steps[StepScrape]
	if _, err := f.engine.inspector.GetTaskInfo(QueueAny, taskID(job.ID, StepScrape, step.Attempt)); err != nil {
		t.Errorf("attempt %d is not in the queue of persons: %v", step.Attempt, err)
	}
	if n := f.client.ZCard(t.Context(), "jobs:active:"+string(jobs.Bulk)).Val(); n != 0 {
		t.Errorf("%d jobs are looked at as bulk", n)
	}
}

func TestTheEndOfAJobIsToldToThoseWhoAsked(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	hooks := webhook.NewStore(f.client)
	endpoint, _, err := hooks.Add(t.Context(), "key1", webhook.NewID(), "https://receiver.example/", []string{webhook.JobCompleted})
	if err != nil {
		t.Fatal(err)
	}
	job := f.ask("key1", jobs.Interactive, "")
	f.ask("key2", jobs.Interactive, "")
	f.succeed(job.ID, withoutSheet)
	if err := f.engine.Advance(t.Context(), job.ID); err != nil { // settled twice
		t.Fatal(err)
	}
	deliveries, err := hooks.Deliveries(t.Context(), "key1", endpoint.ID, 10)
	if err != nil || len(deliveries) != 1 || deliveries[0].Event != webhook.JobCompleted {
		t.Errorf("%v, %+v", err, deliveries)
	}
}
