package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
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

var bothCars = tasks.CompareInput{URL1: "https://a.example/1", URL2: "https://a.example/2", Rate: "2650", Lang: "sw"}

// submit submits an interactive job of the key "key".
func submit(f *enginetest.Rig, kind string, input any, subscriber string) *jobs.Job {
	f.TB.Helper()
	return f.Submit(kind, input, tasks.Requester{Owner: "key", Class: jobs.Interactive, Subscriber: subscriber})
}

const (
	withoutSheet = `{"car":{"conditionReportUrl":null}}`
	withSheet    = `{"car":{"conditionReportUrl":"https://a.example/sheet.jpg"}}`
)

func TestComparisonWaitsForItsChildren(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	parent := submit(f, tasks.KindCompare, bothCars, "")
	if len(parent.Children) != 2 || len(parent.Steps) != 0 {
		t.Fatalf("%+v", parent)
	}
	car1, car2 := f.Get(parent.Children[tasks.ChildCar1].Job), f.Get(parent.Children[tasks.ChildCar2].Job)
	if car1.RequestedByCaller || string(car1.Input) != `{"url":"https://a.example/1"}` || car1.Owner != "key" || car2.Kind != tasks.KindEstimate {
		t.Fatalf("%+v", car1)
	}
	f.Succeed(car1.ID, withSheet)
	parent = f.Get(parent.ID)
	reading := f.Get(parent.Children[tasks.ChildSheet1].Job) // the other car is not waited for
	if string(reading.Input) != `{"url":"https://a.example/sheet.jpg"}` || len(parent.Steps) != 0 {
		t.Fatalf("%+v", reading)
	}
	f.Succeed(car2.ID, withoutSheet)
	if parent = f.Get(parent.ID); len(parent.Steps) != 0 || len(parent.Children) != 3 {
		t.Fatalf("%+v", parent)
	}
	if err := f.End(t.Context(), f.Get(reading.ID), jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "no_ai"}}}); err != nil {
		t.Fatal(err)
	}
	parent = f.Get(parent.ID)
	if child := parent.Children[tasks.ChildSheet1]; child.State != jobs.Failed || child.Error.Code != "no_ai" ||
		parent.Steps[tasks.StepRecommend].State != jobs.StepReady {
		t.Fatalf("a sheet that cannot be read sinks the comparison: %+v", parent)
	}
	f.Complete(parent.ID, tasks.StepRecommend, `{"recommendation":"…"}`)
	if parent = f.Get(parent.ID); parent.State != jobs.Succeeded || string(parent.Result) != `{"recommendation":"…"}` {
		t.Fatalf("%+v", parent)
	}
}

func TestFailedListingEndsTheComparison(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	parent := submit(f, tasks.KindCompare, bothCars, "")
	details := json.RawMessage(`[{"make":"TOYOTA","modelBody":"X"}]`)
	if err := f.End(t.Context(), f.Get(parent.Children[tasks.ChildCar2].Job), jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "no_match", Message: "Nothing fits."}, Details: details}}); err != nil {
		t.Fatal(err)
	}
	parent = f.Get(parent.ID)
	if parent.State != jobs.Failed || parent.Error.Code != "no_match" || string(parent.Error.Details) != string(details) ||
		parent.Error.Message != "Car 2 (https://a.example/2): Nothing fits." {
		t.Fatalf("%s %+v", parent.State, parent.Error)
	}
	if other := f.Get(parent.Children[tasks.ChildCar1].Job); other.State.Ended() {
		t.Fatal("the estimate of the other car, which the cache could keep, was given up")
	}
}

func TestErrorNamesBothCars(t *testing.T) {
	t.Parallel()
	failed := jobs.Child{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "listing_gone", Message: "Gone."}}}
	job := &jobs.Job{
		Kind: tasks.KindCompare, Input: json.RawMessage(`{"url1":"https://a.example/1","url2":"https://a.example/2"}`),
		Children: map[string]jobs.Child{tasks.ChildCar1: {State: jobs.Cancelled}, tasks.ChildCar2: failed},
	}
	next, err := tasks.Advance(job)
	if err != nil || next.Failed == nil || next.Failed.Code != "cancelled" ||
		!strings.HasPrefix(next.Failed.Message, "Car 1 (https://a.example/1): ") ||
		!strings.HasSuffix(next.Failed.Message, " Car 2 (https://a.example/2): Gone.") {
		t.Fatalf("%+v, %v", next, err)
	}
}

func TestCachedChildNeedsNoJob(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	kept := `{"car":{"conditionReportUrl":null},"cached":true}`
	key := tasks.EstimateInput{URL: bothCars.URL1}.Key()
	if err := cache.New(f.Redis).PutRaw(t.Context(), key, []byte(kept), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	parent := submit(f, tasks.KindCompare, bothCars, "")
	if child := parent.Children[tasks.ChildCar1]; child.Job != "" || child.State != jobs.Succeeded || string(child.Result) != kept {
		t.Fatalf("%+v", child)
	}
	if child := parent.Children[tasks.ChildCar2]; child.Job == "" || child.State.Ended() {
		t.Fatalf("%+v", child)
	}
}

func TestCancelReleasesTheChildren(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	asked := submit(f, tasks.KindEstimate, tasks.EstimateInput{URL: bothCars.URL1}, "")
	parent := submit(f, tasks.KindCompare, bothCars, "")
	if err := f.Cancel(t.Context(), parent.ID); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]jobs.State{
		parent.ID: jobs.Cancelled, asked.ID: jobs.Running, parent.Children[tasks.ChildCar2].Job: jobs.Cancelled,
	} {
		if job := f.Get(id); job.State.Ended() != want.Ended() || job.State.Ended() && job.State != want {
			t.Errorf("%s is %s, want %s", job.Kind, job.State, want)
		}
	}
}

func TestSubscribersOfOtherKindsAreNotified(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	job := submit(f, tasks.KindEstimate, tasks.EstimateInput{URL: bothCars.URL1}, "batch:b#1")
	submit(f, tasks.KindEstimate, tasks.EstimateInput{URL: bothCars.URL1}, "batch:b#2")
	if err := f.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: tasks.TimedOut()}); !errors.Is(err, tasks.ErrNotifyIncomplete) {
		t.Fatalf("this process has no notifier of batches: %v", err)
	}
	var notified []string
	other := enginetest.NewEngine(f.Redis, enginetest.WithNotifier("batch",
		func(_ context.Context, ended *jobs.Job, subscribers []string) error {
			if ended.Error == nil || ended.Error.Code != "deadline_exceeded" {
				t.Errorf("%+v", ended)
			}
			notified = append(notified, subscribers...)
			return nil
		}))
	for range 2 { // the sweeper advances a job until it is finalized
		if err := other.Advance(t.Context(), job.ID); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(notified); !slices.Equal(notified, []string{"batch:b#1", "batch:b#2"}) {
		t.Fatalf("notified: %v", notified)
	}
}

// A bulk child may take a day; an interactive parent does not wait that long.
func TestSweepEndsAParentThatWaitsPastItsDeadline(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	parent := submit(f, tasks.KindCompare, bothCars, "")
	now := time.Now()
	for _, c := range []struct {
		after time.Duration
		ended bool
	}{{time.Minute, false}, {time.Hour, true}} {
		f.Server.SetTime(now.Add(c.after))
		for _, child := range parent.Children {
			if err := f.Jobs.RemoveActive(t.Context(), child.Job, jobs.Interactive); err != nil {
				t.Fatal(err) // the children are left alone: this is about the parent
			}
		}
		if _, _, err := f.Engine.Sweep(t.Context(), jobs.Interactive, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		if job := f.Get(parent.ID); job.State.Ended() != c.ended || c.ended && job.Error.Code != "deadline_exceeded" {
			t.Fatalf("after %v: %s %v", c.after, job.State, job.Error)
		}
	}
}

// The process died after it stored the end of the child.
func TestSweepNotifiesAParentAfterACrash(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	parent := submit(f, tasks.KindCompare, bothCars, "")
	for _, child := range parent.Children {
		how := jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{}`)}
		if _, _, err := f.Jobs.End(t.Context(), f.Get(child.Job), how); err != nil {
			t.Fatal(err)
		}
	}
	f.Server.SetTime(time.Now().Add(10 * time.Second))
	if _, _, err := f.Engine.Sweep(t.Context(), jobs.Interactive, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	if parent = f.Get(parent.ID); parent.Steps[tasks.StepRecommend].State != jobs.StepReady {
		t.Fatalf("%+v", parent)
	}
}

// Both cars have the same sheet. Two processes submit the report of car 1; the slower
// one joins the job that is by then the report of car 2, and releases it.
func TestTwoChildrenWithOneJobAreReleasedOneByOne(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	parent := submit(f, tasks.KindCompare, bothCars, "")
	stale := f.Get(parent.ID)
	f.Succeed(parent.Children[tasks.ChildCar1].Job, withSheet)
	first := f.Get(parent.ID).Children[tasks.ChildSheet1].Job
	if err := f.End(t.Context(), f.Get(first), jobs.End{State: jobs.Failed, Error: tasks.TimedOut()}); err != nil {
		t.Fatal(err)
	}
	f.Succeed(parent.Children[tasks.ChildCar2].Job, withSheet)
	second := f.Get(parent.ID).Children[tasks.ChildSheet2].Job
	if second == first {
		t.Fatal("a failed job was joined")
	}
	report := tasks.Child{tasks.ChildSheet1, tasks.KindReport, tasks.ReportInput{URL: "https://a.example/sheet.jpg"}}
	if _, err := tasks.EnsureChild(f.Engine, t.Context(), stale, report); err != nil {
		t.Fatal(err)
	}
	if job := f.Get(second); job.State.Ended() {
		t.Fatalf("the report of car 2 is %s", job.State)
	}
	if err := f.Cancel(t.Context(), parent.ID); err != nil {
		t.Fatal(err)
	}
	if job := f.Get(second); job.State != jobs.Cancelled {
		t.Fatalf("the report has no subscriber left, and it is %s", job.State)
	}
}

// The process died after it promoted the parent and before it promoted its children.
func TestChildrenOfAPromotedJobArePromoted(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	job, err := f.Engine.Submit(t.Context(), tasks.KindCompare, bothCars, tasks.Requester{Owner: "key", Class: jobs.Bulk})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Jobs.Promote(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	if err := f.Advance(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	for name, child := range f.Get(job.ID).Children {
		if class := f.Get(child.Job).Class; class != jobs.Interactive {
			t.Errorf("%s is %s", name, class)
		}
	}
}

// TestARowGetsItsResultFromTheCache: the process died after it ended the job and before it told
// the row, whose result the record does not have. Without the cache the row is told nothing: it
// gets another job.
func TestARowGetsItsResultFromTheCache(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"cached": false, "the cache has lost it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []byte
			var results *cache.Cache
			f := enginetest.New(t, enginetest.WithNotifier(tasks.SubscriberBatch, func(_ context.Context, job *jobs.Job, _ []string) error {
				told = job.Result
				return nil
			}), func(o *tasks.Options) { results = o.Results })
			row := requestCar(f, "key", jobs.Bulk, tasks.RowSubscriber("1", 0))
			result := []byte(`{"car":{"make":"TOYOTA"},"cached":false}`)
			if !lost {
				if err := results.Put(t.Context(), oneCar.Key(), result, time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			ended, _, err := f.Jobs.End(t.Context(), row, jobs.End{State: jobs.Succeeded, Result: result, Cached: true})
			if err != nil || string(ended.Result) != string(result) {
				t.Fatalf("got %+v, %v, want the job with its result", ended, err)
			}
			if stored := f.Get(row.ID); stored.State != jobs.Succeeded || stored.Result != nil {
				t.Errorf("got the record %+v, want one that has ended without the result", stored)
			}
			if err := f.Advance(t.Context(), row.ID); err != nil || strings.Contains(string(told), "TOYOTA") == lost {
				t.Errorf("got %v, and the row was told %s", err, told)
			}
			if !lost && string(told) != string(result) { // the job made it for the row
				t.Errorf("the row was told %s, want %s", told, result)
			}
		})
	}
}

// TestWhoJoinsARowFindsItsResultWithoutTheCache: the last step has begun before the caller joined,
// and its copy of the job is one of a row's alone.
func TestWhoJoinsARowFindsItsResultWithoutTheCache(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t, enginetest.WithNotifier(tasks.SubscriberBatch, noBatches))
	row := requestCar(f, "key", jobs.Bulk, tasks.RowSubscriber("1", 0))
	joined, err := f.Engine.Submit(t.Context(), tasks.KindEstimate, oneCar, tasks.Requester{Owner: "other", Class: jobs.Interactive})
	if err != nil || joined.ID != row.ID {
		t.Fatalf("joined: got %+v, %v, want the job of the row", joined, err)
	}
	result := []byte(`{"car":{"make":"TOYOTA"}}`)
	ended, _, err := f.Jobs.End(t.Context(), row, jobs.End{State: jobs.Succeeded, Result: result, Cached: true})
	if err != nil || ended == nil || ended.Class != jobs.Interactive {
		t.Fatalf("got %+v, %v, want the job ended as one of a caller", ended, err)
	}
	if err := f.Jobs.MarkFinalized(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	if read, err := f.Job(t.Context(), row.ID); err != nil || string(read.Result) != string(result) {
		t.Errorf("got %+v, %v, want the job with its result", read, err)
	}
}

// keeping returns an engine whose results are cached.
func keeping(t *testing.T) *enginetest.Rig {
	t.Helper()
	return enginetest.New(t, enginetest.WithNotifier(tasks.SubscriberBatch, noBatches), func(o *tasks.Options) {
		results := o.Results
		o.BeforeSucceed = func(ctx context.Context, _ *jobs.Job, result json.RawMessage) error {
			return results.Put(ctx, oneCar.Key(), result, time.Now().Add(time.Hour))
		}
	})
}

// TestTheResultOfARowIsKeptOnce: its job has it no more, and who asks for the job gets it from
// the cache, or a new job when it has expired there.
func TestTheResultOfARowIsKeptOnce(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	row := requestCar(f, "key", jobs.Bulk, tasks.RowSubscriber("1", 0))
	const result = `{"car":{"make":"TOYOTA"},"cached":false}`
	f.Succeed(row.ID, result)
	if stored := f.Get(row.ID); stored.State != jobs.Succeeded || stored.Result != nil {
		t.Errorf("got the record %+v with %s, want one without the result", stored, stored.Result)
	}
	joined, err := f.Engine.Submit(t.Context(), tasks.KindEstimate, oneCar, tasks.Requester{Owner: "other", Class: jobs.Interactive})
	if err != nil || joined.ID != row.ID || !strings.Contains(string(joined.Result), "TOYOTA") {
		t.Errorf("joined: got %+v, %v, want the job with its result", joined, err)
	}
	if read, err := f.Job(t.Context(), row.ID); err != nil || string(read.Result) != result {
		t.Errorf("read: got %+v, %v, want the job with the result %s", read, err, result)
	}
	if err := f.Redis.Del(t.Context(), string(oneCar.Key())).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Job(t.Context(), row.ID); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("without the cache: got %v, want that there is no such job", err)
	}
	again, err := f.Engine.Submit(t.Context(), tasks.KindEstimate, oneCar, tasks.Requester{Owner: "other", Class: jobs.Interactive})
	if err != nil || again.ID == row.ID || again.State.Ended() {
		t.Errorf("without the cache: got %+v, %v, want a new job", again, err)
	}
}
