package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
)

// family is an engine without workers: the test ends children itself.
type family struct {
	t      *testing.T
	server *miniredis.Miniredis
	client *redis.Client
	engine *Engine
}

func newEngine(client *redis.Client) *Engine {
	return New(Options{
		Redis: client, Jobs: jobs.NewStore(client), Results: cache.New(client), Webhooks: webhook.NewStore(client),
	})
}

func newFamily(t *testing.T) *family {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return &family{t, server, client, newEngine(client)}
}

var bothCars = CompareInput{URL1: "https://a.example/1", URL2: "https://a.example/2", Rate: "2650", Lang: "sw"}

func (f *family) submit(kind string, input any, parent string) *jobs.Job {
	f.t.Helper()
	job, err := f.engine.Submit(f.t.Context(), kind, input, Requester{Owner: "key", Class: jobs.Interactive, Subscriber: parent})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.get(job.ID)
}

func (f *family) get(id string) *jobs.Job {
	f.t.Helper()
	job, err := f.engine.jobs.Get(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return job
}

// succeed ends a job with a result, as its last step would.
func (f *family) succeed(id, result string) {
	f.t.Helper()
	_, err := f.engine.jobs.Succeed(f.t.Context(), id, json.RawMessage(result))
	if err = errors.Join(err, f.engine.Advance(f.t.Context(), id)); err != nil {
		f.t.Fatal(err)
	}
}

const (
	withoutSheet = `{"car":{"conditionReportUrl":null}}`
	withSheet    = `{"car":{"conditionReportUrl":"https://a.example/sheet.jpg"}}`
)

func TestComparisonWaitsForItsChildren(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	parent := f.submit(KindCompare, bothCars, "")
	if len(parent.Children) != 2 || len(parent.Steps) != 0 {
		t.Fatalf("%+v", parent)
	}
	car1, car2 := f.get(parent.Children[ChildCar1].Job), f.get(parent.Children[ChildCar2].Job)
	if car1.RequestedByCaller || string(car1.Input) != `{"url":"https://a.example/1"}` || car1.Owner != "key" || car2.Kind != KindEstimate {
		t.Fatalf("%+v", car1)
	}
	f.succeed(car1.ID, withSheet)
	parent = f.get(parent.ID)
	reading := f.get(parent.Children[ChildSheet1].Job) // the other car is not waited for
	if string(reading.Input) != `{"url":"https://a.example/sheet.jpg"}` || len(parent.Steps) != 0 {
		t.Fatalf("%+v", reading)
	}
	f.succeed(car2.ID, withoutSheet)
	if parent = f.get(parent.ID); len(parent.Steps) != 0 || len(parent.Children) != 3 {
		t.Fatalf("%+v", parent)
	}
	if err := f.engine.Fail(t.Context(), reading.ID, "", "", &jobs.Error{Code: "no_ai"}); err != nil {
		t.Fatal(err)
	}
	parent = f.get(parent.ID)
	if child := parent.Children[ChildSheet1]; child.State != jobs.Failed || child.Error.Code != "no_ai" ||
		parent.Steps[StepRecommend].State != jobs.StepReady {
		t.Fatalf("a sheet that cannot be read sinks the comparison: %+v", parent)
	}
	f.complete(parent.ID, StepRecommend, `{"recommendation":"…"}`)
	if parent = f.get(parent.ID); parent.State != jobs.Succeeded || string(parent.Result) != `{"recommendation":"…"}` {
		t.Fatalf("%+v", parent)
	}
}

func (f *family) complete(id, step, output string) {
	f.t.Helper()
	_, err := f.engine.jobs.Complete(f.t.Context(), id, step, json.RawMessage(output))
	if err = errors.Join(err, f.engine.Advance(f.t.Context(), id)); err != nil {
		f.t.Fatal(err)
	}
}

func TestListingThatFailsEndsTheComparison(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	parent := f.submit(KindCompare, bothCars, "")
	details := json.RawMessage(`[{"make":"TOYOTA","modelBody":"X"}]`)
	if err := f.engine.Fail(t.Context(), parent.Children[ChildCar2].Job, "", "",
		&jobs.Error{Code: "no_match", Message: "Nothing fits.", Details: details}); err != nil {
		t.Fatal(err)
	}
	parent = f.get(parent.ID)
	if parent.State != jobs.Failed || parent.Error.Code != "no_match" || string(parent.Error.Details) != string(details) ||
		parent.Error.Message != "Car 2 (https://a.example/2): Nothing fits." {
		t.Fatalf("%s %+v", parent.State, parent.Error)
	}
	if other := f.get(parent.Children[ChildCar1].Job); other.State.Ended() {
		t.Fatal("the estimate of the other car, which the cache could keep, was given up")
	}
}

func TestErrorNamesBothCars(t *testing.T) {
	t.Parallel()
	failed := jobs.Child{State: jobs.Failed, Error: &jobs.Error{Code: "listing_gone", Message: "Gone."}}
	job := &jobs.Job{
		Kind: KindCompare, Input: json.RawMessage(`{"url1":"https://a.example/1","url2":"https://a.example/2"}`),
		Children: map[string]jobs.Child{ChildCar1: {State: jobs.Cancelled}, ChildCar2: failed},
	}
	next, err := advance(job)
	if err != nil || next.Failed == nil || next.Failed.Code != "cancelled" ||
		!strings.HasPrefix(next.Failed.Message, "Car 1 (https://a.example/1): ") ||
		!strings.HasSuffix(next.Failed.Message, " Car 2 (https://a.example/2): Gone.") {
		t.Fatalf("%+v, %v", next, err)
	}
}

func TestChildWhoseAnswerIsKeptCostsNoJob(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	kept := `{"car":{"conditionReportUrl":null},"cached":true}`
	key := EstimateInput{URL: bothCars.URL1}.Key()
	if err := cache.New(f.client).PutRaw(t.Context(), key, []byte(kept), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	parent := f.submit(KindCompare, bothCars, "")
	if child := parent.Children[ChildCar1]; child.Job != "" || child.State != jobs.Succeeded || string(child.Result) != kept {
		t.Fatalf("%+v", child)
	}
	if child := parent.Children[ChildCar2]; child.Job == "" || child.State.Ended() {
		t.Fatalf("%+v", child)
	}
}

func TestCancelEndsChildrenThatNobodyElseWants(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	asked := f.submit(KindEstimate, EstimateInput{URL: bothCars.URL1}, "")
	parent := f.submit(KindCompare, bothCars, "")
	if err := f.engine.Cancel(t.Context(), parent.ID); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]jobs.State{
		parent.ID: jobs.Cancelled, asked.ID: jobs.Running, parent.Children[ChildCar2].Job: jobs.Cancelled,
	} {
		if job := f.get(id); job.State.Ended() != want.Ended() || job.State.Ended() && job.State != want {
			t.Errorf("%s is %s, want %s", job.Kind, job.State, want)
		}
	}
}

func TestParentsThatAreNoJobsAreTold(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	job := f.submit(KindEstimate, EstimateInput{URL: bothCars.URL1}, "batch:b#1")
	f.submit(KindEstimate, EstimateInput{URL: bothCars.URL1}, "batch:b#2")
	if err := f.engine.Fail(t.Context(), job.ID, "", "", TimedOut()); err == nil {
		t.Fatal("nobody could tell the batch, and nobody said so")
	}
	var told []string
	f.engine.notifiers["batch"] = func(_ context.Context, ended *jobs.Job, parents []string) error {
		if ended.Error == nil || ended.Error.Code != "deadline_exceeded" {
			t.Errorf("%+v", ended)
		}
		told = append(told, parents...)
		return nil
	}
	for range 2 { // the sweep comes back to it, until it is done
		if err := f.engine.Advance(t.Context(), job.ID); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(told); !slices.Equal(told, []string{"batch:b#1", "batch:b#2"}) {
		t.Fatalf("told: %v", told)
	}
}

// A child in a batch may take a day; a person does not wait that long.
func TestSweepEndsAParentThatWaitsPastItsDeadline(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	parent := f.submit(KindCompare, bothCars, "")
	now := time.Now()
	for _, c := range []struct {
		after time.Duration
		ended bool
	}{{time.Minute, false}, {time.Hour, true}} {
		f.server.SetTime(now.Add(c.after))
		for _, child := range parent.Children {
			if err := f.engine.jobs.RemoveActive(t.Context(), child.Job, jobs.Interactive); err != nil {
				t.Fatal(err) // the children are left alone: this is about the parent
			}
		}
		if _, _, err := f.engine.Sweep(t.Context(), jobs.Interactive, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		if job := f.get(parent.ID); job.State.Ended() != c.ended || c.ended && job.Error.Code != "deadline_exceeded" {
			t.Fatalf("after %v: %s %v", c.after, job.State, job.Error)
		}
	}
}

// The end of the child was written, and the process died before it told.
func TestSweepTellsAParentOfALostEnd(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	parent := f.submit(KindCompare, bothCars, "")
	for _, child := range parent.Children {
		if _, err := f.engine.jobs.Succeed(t.Context(), child.Job, json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	f.server.SetTime(time.Now().Add(10 * time.Second))
	if _, _, err := f.engine.Sweep(t.Context(), jobs.Interactive, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	if parent = f.get(parent.ID); parent.Steps[StepRecommend].State != jobs.StepReady {
		t.Fatalf("%+v", parent)
	}
}

// Both cars have the same sheet. Two processes ask for the report of car 1; the
// slower one gets the job that is by then the report of car 2, and lets it go.
func TestTwoChildrenThatAreOneJobAreLetGoOneByOne(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	parent := f.submit(KindCompare, bothCars, "")
	stale := f.get(parent.ID)
	f.succeed(parent.Children[ChildCar1].Job, withSheet)
	first := f.get(parent.ID).Children[ChildSheet1].Job
	if err := f.engine.Fail(t.Context(), first, "", "", TimedOut()); err != nil {
		t.Fatal(err)
	}
	f.succeed(parent.Children[ChildCar2].Job, withSheet)
	second := f.get(parent.ID).Children[ChildSheet2].Job
	if second == first {
		t.Fatal("a failed job was joined")
	}
	report := Child{ChildSheet1, KindReport, ReportInput{URL: "https://a.example/sheet.jpg"}}
	if _, err := f.engine.ensureChild(t.Context(), stale, report); err != nil {
		t.Fatal(err)
	}
	if job := f.get(second); job.State.Ended() {
		t.Fatalf("the report of car 2 is %s", job.State)
	}
	if err := f.engine.Cancel(t.Context(), parent.ID); err != nil {
		t.Fatal(err)
	}
	if job := f.get(second); job.State != jobs.Cancelled {
		t.Fatalf("nobody wants the report any more, and it is %s", job.State)
	}
}

// A process that dies after it promoted the parent, before its children.
func TestChildrenOfAPromotedJobAreMended(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	job, err := f.engine.Submit(t.Context(), KindCompare, bothCars, Requester{Owner: "key", Class: jobs.Bulk})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.engine.jobs.Promote(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := f.engine.Advance(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	for name, child := range f.get(job.ID).Children {
		if class := f.get(child.Job).Class; class != jobs.Interactive {
			t.Errorf("%s is %s", name, class)
		}
	}
}
