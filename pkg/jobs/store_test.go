package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func newJob(url string) jobs.New {
	input, _ := json.Marshal(map[string]string{"url": url})
	return jobs.New{Kind: "estimate", Class: jobs.Interactive, Owner: "key1", Input: input, Deadline: time.Minute}
}

// must returns a function that fails the test on any error.
func must(t *testing.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		for name, test := range map[string]func(*testing.T, *jobs.Store){
			"a record keeps its input":              keepsInput,
			"equal running jobs are one":            equalInputsShareJob,
			"a job that just succeeded is joined":   succeededIsJoined,
			"a failed job is not joined":            failedIsNotJoined,
			"a claim follows the attempt":           claimFollowsAttempt,
			"the first output stays":                firstOutputStays,
			"an output opens the next steps":        outputOpensSteps,
			"a job ends once":                       endsOnce,
			"only the holder of a claim may fail":   onlyHolderFails,
			"a due job is handed to one sweeper":    dueOnce,
			"a heartbeat expires":                   heartbeat,
			"a job that is joined is checked":       joinedIsActive,
			"a job is finished once":                finishedOnce,
			"unclaimed counts from the first check": unclaimed,
			"retries are counted over all attempts": retriesAreCounted,
			"waiters are notified":                  waiters,
		} {
			t.Run(name, func(t *testing.T) { test(t, store) })
		}
	})
}

// finalize does what is left after the end of a job.
func finalize(t *testing.T, store *jobs.Store, job *jobs.Job) {
	t.Helper()
	_, err := store.PublishEnd(t.Context(), job, 0)
	must(t)(err)
	must(t)(store.MarkFinalized(t.Context(), job))
}

func keepsInput(t *testing.T, store *jobs.Store) {
	n := newJob("https://a.example/" + t.Name())
	made, joined, err := store.Create(t.Context(), n)
	must(t)(err)
	if joined {
		t.Fatal("joined")
	}
	read, err := store.Get(t.Context(), made.ID)
	must(t)(err)
	if read.Kind != n.Kind || read.Class != n.Class || read.Owner != n.Owner || string(read.Input) != string(n.Input) ||
		read.State != jobs.Queued || !read.Created.Equal(made.Created) || read.Deadline.Sub(read.Created) != n.Deadline {
		t.Fatalf("%+v", read)
	}
	if _, err := store.Get(t.Context(), "nothing"); !errors.Is(err, jobs.ErrNotFound) {
		t.Fatal(err)
	}
}

func equalInputsShareJob(t *testing.T, store *jobs.Store) {
	n := newJob("https://a.example/" + t.Name())
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		ids   = map[string]int{}
		made  int
	)
	for range 100 {
		group.Go(func() {
			job, joined, err := store.Create(t.Context(), n)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			ids[job.ID]++
			if !joined {
				made++
			}
		})
	}
	group.Wait()
	if len(ids) != 1 || made != 1 {
		t.Fatalf("%d made, %v", made, ids)
	}
}

func succeededIsJoined(t *testing.T, store *jobs.Store) {
	n := newJob("https://a.example/" + t.Name())
	job := run(t, store, n)
	_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{"a":1}`)})
	must(t)(err)
	job, err = store.Get(t.Context(), job.ID)
	must(t)(err)
	finalize(t, store, job)
	again, joined, err := store.Create(t.Context(), n)
	must(t)(err)
	if !joined || again.ID != job.ID || string(again.Result) != `{"a":1}` {
		t.Fatalf("joined %v: %+v", joined, again)
	}
}

func failedIsNotJoined(t *testing.T, store *jobs.Store) {
	n := newJob("https://a.example/" + t.Name())
	job := run(t, store, n)
	_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "listing_gone", Message: "Gone."}}})
	must(t)(err)
	again, joined, err := store.Create(t.Context(), n)
	must(t)(err)
	if joined || again.ID == job.ID {
		t.Fatal("joined a failed job")
	}
	// Releasing the dedup key of the first job must not touch that of the second.
	job, err = store.Get(t.Context(), job.ID)
	must(t)(err)
	finalize(t, store, job)
	third, joined, err := store.Create(t.Context(), n)
	must(t)(err)
	if !joined || third.ID != again.ID {
		t.Fatal("the second job lost its dedup key")
	}
}

// run makes a job whose first step is claimed as "claim1" by "worker1".
func run(t *testing.T, store *jobs.Store, n jobs.New) *jobs.Job {
	t.Helper()
	job, joined, err := store.Create(t.Context(), n)
	must(t)(err)
	if joined {
		t.Fatal("joined")
	}
	_, err = store.Open(t.Context(), job.ID, "scrape")
	must(t)(err)
	claim(t, store, job.ID, 1, "claim1", jobs.Claimed)
	return job
}

func claim(t *testing.T, store *jobs.Store, id string, attempt int, name string, want jobs.ClaimResult) {
	t.Helper()
	verdict, job, err := store.Claim(t.Context(), id, "scrape", attempt, "worker1", name)
	must(t)(err)
	if verdict != want {
		t.Fatalf("attempt %d: %s, want %s", attempt, verdict, want)
	}
	if want != jobs.Claimed {
		return
	}
	if read, err := store.Get(t.Context(), id); err != nil || !reflect.DeepEqual(job, read) || job.Steps["scrape"].Claim != name {
		t.Fatalf("claimed %+v, which is %+v, %v", job, read, err)
	}
}

func claimFollowsAttempt(t *testing.T, store *jobs.Store) {
	job := run(t, store, newJob("https://a.example/"+t.Name()))
	claim(t, store, job.ID, 1, "claim2", jobs.Claimed) // delivered twice
	seen := jobs.Step{State: jobs.StepClaimed, Attempt: 1, Claim: "claim1"}
	if stale, err := store.Requeue(t.Context(), job.ID, "scrape", seen); stale != 0 || err != nil {
		t.Fatalf("took the claim of a run that was not seen: %d, %v", stale, err)
	}
	seen.Claim = "claim2"
	attempt, err := store.Requeue(t.Context(), job.ID, "scrape", seen)
	must(t)(err)
	if attempt != 2 {
		t.Fatalf("attempt %d", attempt)
	}
	if again, err := store.Requeue(t.Context(), job.ID, "scrape", seen); again != 0 || err != nil {
		t.Fatalf("restarted twice from one sight: %d, %v", again, err)
	}
	claim(t, store, job.ID, 1, "late", jobs.Stale)
	claim(t, store, job.ID, 2, "claim3", jobs.Claimed)
	complete(t, store, job.ID, `1`, jobs.Completed{Accepted: true})
	claim(t, store, job.ID, 2, "claim4", jobs.AlreadyDone)
	_, _, err = store.End(t.Context(), job, jobs.End{State: jobs.Cancelled})
	must(t)(err)
	claim(t, store, job.ID, 2, "claim5", jobs.JobEnded)
	claim(t, store, "nothing", 1, "claim6", jobs.NotFound)
}

func firstOutputStays(t *testing.T, store *jobs.Store) {
	job := run(t, store, newJob("https://a.example/"+t.Name()))
	complete(t, store, job.ID, `{"run":1}`, jobs.Completed{Accepted: true})
	complete(t, store, job.ID, `{"run":2}`, jobs.Completed{}, "match")
	job, err := store.Get(t.Context(), job.ID)
	must(t)(err)
	if got := string(job.Outputs["scrape"]); got != `{"run":1}` || job.Steps["scrape"].State != jobs.StepDone || len(job.Steps) != 1 {
		t.Fatalf("%s %+v", got, job.Steps)
	}
}

func complete(t *testing.T, store *jobs.Store, id, output string, want jobs.Completed, next ...string) {
	t.Helper()
	got, err := store.Complete(t.Context(), id, "scrape", json.RawMessage(output), "", "", next...)
	must(t)(err)
	if got != want {
		t.Fatalf("%s: %+v, want %+v", output, got, want)
	}
}

func outputOpensSteps(t *testing.T, store *jobs.Store) {
	n := newJob("https://a.example/" + t.Name())
	n.Class = jobs.Bulk
	job := run(t, store, n)
	_, _, err := store.Promote(t.Context(), job.ID)
	must(t)(err)
	complete(t, store, job.ID, `1`, jobs.Completed{Accepted: true, Promoted: true}, "match")
	job, err = store.Get(t.Context(), job.ID)
	must(t)(err)
	if step := job.Steps["match"]; step.State != jobs.StepReady || step.Attempt != 1 {
		t.Fatalf("%+v", job.Steps)
	}
	// When another process has opened the next step, the record decides.
	other := run(t, store, newJob("https://b.example/"+t.Name()))
	_, err = store.Open(t.Context(), other.ID, "match")
	must(t)(err)
	complete(t, store, other.ID, `1`, jobs.Completed{}, "match")
}

func endsOnce(t *testing.T, store *jobs.Store) {
	job := run(t, store, newJob("https://a.example/"+t.Name()))
	first, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{"run":1}`)})
	must(t)(err)
	second, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{"run":2}`)})
	must(t)(err)
	third, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "late"}}, Step: "scrape", Claim: "claim1"})
	must(t)(err)
	job, err = store.Get(t.Context(), job.ID)
	must(t)(err)
	if first == nil || !first.Ended.Equal(job.Ended) || second != nil || third != nil || job.State != jobs.Succeeded || string(job.Result) != `{"run":1}` || job.Error != nil {
		t.Fatalf("%v %v %v %+v", first, second, third, job)
	}
}

func onlyHolderFails(t *testing.T, store *jobs.Store) {
	job := run(t, store, newJob("https://a.example/"+t.Name()))
	claim(t, store, job.ID, 1, "claim2", jobs.Claimed)
	if ended, _, err := store.End(t.Context(), job, jobs.End{
		State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "x"}}, Step: "scrape", Claim: "claim1",
	}); ended != nil || err != nil {
		t.Fatalf("failed on the word of a run that lost the step: %v %v", ended, err)
	}
	must(t)(store.Release(t.Context(), job.ID, "claim1", true)) // not its to release either
	job, err := store.Get(t.Context(), job.ID)
	must(t)(err)
	if job.Steps["scrape"].Claim != "claim2" {
		t.Fatalf("%+v", job.Steps)
	}
	if ended, _, err := store.End(t.Context(), job, jobs.End{
		State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "x", Message: "y"}}, Step: "scrape", Claim: "claim2",
	}); ended == nil || err != nil {
		t.Fatalf("%v %v", ended, err)
	}
	job, err = store.Get(t.Context(), job.ID)
	must(t)(err)
	if job.State != jobs.Failed || job.Error.Code != "x" || job.Error.Message != "y" || job.Ended.IsZero() {
		t.Fatalf("%+v", job)
	}
}

func dueOnce(t *testing.T, store *jobs.Store) {
	job, _, err := store.Create(t.Context(), newJob("https://a.example/"+t.Name()))
	must(t)(err)
	must(t)(store.ScheduleCheck(t.Context(), job.ID, jobs.Interactive, -time.Second))
	var found int
	for range 2 {
		ids, err := store.ListDue(t.Context(), jobs.Interactive, 1000, time.Minute)
		must(t)(err)
		for _, id := range ids {
			if id == job.ID {
				found++
			}
		}
	}
	if found != 1 {
		t.Fatalf("handed out %d times", found)
	}
	must(t)(store.RemoveActive(t.Context(), job.ID, jobs.Interactive))
	must(t)(store.ScheduleCheck(t.Context(), job.ID, jobs.Interactive, -time.Second)) // does not bring it back
	ids, err := store.ListDue(t.Context(), jobs.Interactive, 1000, time.Minute)
	must(t)(err)
	for _, id := range ids {
		if id == job.ID {
			t.Fatal("a forgotten job came back")
		}
	}
}

func heartbeat(t *testing.T, store *jobs.Store) {
	must(t)(store.Heartbeat(t.Context(), "w", jobs.Presence{}, nil))
	if alive, err := store.Alive(t.Context(), "w"); !alive || err != nil {
		t.Fatalf("%v %v", alive, err)
	}
	must(t)(store.Deregister(t.Context(), "w", nil))
	if alive, err := store.Alive(t.Context(), "w"); alive || err != nil {
		t.Fatalf("%v %v", alive, err)
	}
}

func waiters(t *testing.T, store *jobs.Store) {
	hub := jobs.NewHub(store)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { hub.Run(ctx) })
	defer running.Wait()
	defer cancel()

	job := run(t, store, newJob("https://a.example/"+t.Name()))
	var waiting sync.WaitGroup
	for range 20 {
		waiting.Go(func() {
			waited := hub.WaitEnded(t.Context(), job.ID)
			if ended, err := store.Get(t.Context(), job.ID); waited != nil || err != nil || ended.State != jobs.Succeeded {
				t.Errorf("%v, %v %v", waited, ended, err)
			}
		})
	}
	short, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if err := hub.WaitEnded(short, job.ID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a short wait: %v", err)
	}
	must(t)(hub.WaitEnded(t.Context(), "nothing"))
	_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{}`)})
	must(t)(err)
	ended, err := store.Get(t.Context(), job.ID)
	must(t)(err)
	finalize(t, store, ended)
	waiting.Wait()
	if n := hub.Waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// A creator may crash between the two writes of Create, which are in two slots.
func joinedIsActive(t *testing.T, store *jobs.Store) {
	input := newJob("https://a.example/" + t.Name())
	job, joined, err := store.Create(t.Context(), input, "scrape")
	must(t)(err)
	if joined || job.Steps["scrape"].State != jobs.StepReady {
		t.Fatalf("%v, %+v", joined, job)
	}
	must(t)(store.RemoveActive(t.Context(), job.ID, jobs.Interactive))
	again, joined, err := store.Create(t.Context(), input, "scrape")
	must(t)(err)
	if !joined || again.ID != job.ID || again.Steps["scrape"].Attempt != 1 {
		t.Fatalf("%v, %+v", joined, again)
	}
	var ids []string
	testenv.Await(t, "the job that was joined is due", func() (any, bool) {
		ids, err = store.ListDue(t.Context(), jobs.Interactive, 1000, time.Millisecond)
		must(t)(err)
		return ids, slices.Contains(ids, job.ID)
	})
	for _, id := range ids {
		if _, err := store.Get(t.Context(), id); err != nil {
			t.Errorf("the id of no job is checked: %s, %v", id, err)
		}
	}
}

// A result ends the job with its last steps, and a second one changes nothing.
func finishedOnce(t *testing.T, store *jobs.Store) {
	input := newJob("https://a.example/" + t.Name())
	input.Subscriber = "batch:b#1"
	job, _, err := store.Create(t.Context(), input, "match")
	must(t)(err)
	_, _, err = store.Claim(t.Context(), job.ID, "match", 1, "w", "claim")
	must(t)(err)
	by := func(n int, steps ...string) jobs.End {
		return jobs.End{State: jobs.Succeeded, Result: json.RawMessage(fmt.Sprintf(`{"run":%d}`, n)), Steps: steps}
	}
	finished, subscribers, err := store.End(t.Context(), job, by(1, "match", "calculate"))
	must(t)(err)
	if finished == nil || finished.Ended.IsZero() || !reflect.DeepEqual(subscribers, []string{"batch:b#1"}) {
		t.Errorf("%+v, %v", finished, subscribers)
	}
	again, _, err := store.End(t.Context(), job, by(2, "match", "calculate"))
	must(t)(err)
	ended, err := store.Get(t.Context(), job.ID)
	must(t)(err)
	if again != nil || ended.State != jobs.Succeeded || string(ended.Result) != `{"run":1}` ||
		ended.Steps["match"].State != jobs.StepDone || ended.Steps["calculate"].State != jobs.StepDone {
		t.Errorf("%+v, %+v", again, ended)
	}
	// Another run that stored the output of the step is right.
	other := run(t, store, newJob("https://b.example/"+t.Name()))
	complete(t, store, other.ID, `{"run":1}`, jobs.Completed{Accepted: true})
	refused, _, err := store.End(t.Context(), other, by(2, "scrape"))
	must(t)(err)
	if refused != nil {
		t.Errorf("%+v", refused)
	}
}

func unclaimed(t *testing.T, store *jobs.Store) {
	job, _, err := store.Create(t.Context(), newJob("https://a.example/"+t.Name()))
	must(t)(err)
	_, err = store.Open(t.Context(), job.ID, "scrape")
	must(t)(err)
	look := func() time.Duration {
		t.Helper()
		d, err := store.UnclaimedFor(t.Context(), job.ID, "scrape", 1)
		must(t)(err)
		return d
	}
	if first := look(); first != 0 {
		t.Fatalf("idle for %v at first sight", first)
	}
	for deadline := time.Now().Add(time.Second); look() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("it does not count")
		}
	}
	claim(t, store, job.ID, 1, "claim1", jobs.Claimed)
	if d := look(); d != 0 {
		t.Fatalf("a claimed step is idle for %v", d)
	}
	must(t)(store.Release(t.Context(), job.ID, "claim1", true))
	if d := look(); d != 0 {
		t.Fatalf("idle for %v since before it was claimed", d)
	}
}

func retriesAreCounted(t *testing.T, store *jobs.Store) {
	job := run(t, store, newJob("https://a.example/"+t.Name()))
	for _, counts := range []bool{true, false, true} { // a failure, a snooze, a failure
		claim(t, store, job.ID, 1, "claim1", jobs.Claimed)
		for range 2 { // the reply of the first was lost
			must(t)(store.Release(t.Context(), job.ID, "claim1", counts))
		}
	}
	job, err := store.Get(t.Context(), job.ID)
	must(t)(err)
	attempt, err := store.Requeue(t.Context(), job.ID, "scrape", job.Steps["scrape"])
	must(t)(err)
	job, err = store.Get(t.Context(), job.ID)
	must(t)(err)
	if step := job.Steps["scrape"]; step.Retries != 2 || step.Attempt != 2 || attempt != 2 {
		t.Fatalf("%+v", step)
	}
}

// The record of a job that has ended holds its car once: in the result or the error.
func TestOutputsAreDroppedWhenTheJobEnds(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		for name, end := range map[string]func(job *jobs.Job) error{
			"succeeds": func(job *jobs.Job) error {
				_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: []byte(`{"car":1}`)})
				return err
			},
			"fails": func(job *jobs.Job) error {
				_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: &jobs.Error{}})
				return err
			},
			"is cancelled": func(job *jobs.Job) error {
				_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Cancelled})
				return err
			},
		} {
			job, _, err := store.Create(t.Context(), jobs.New{
				Kind: "estimate", Class: jobs.Interactive, Input: []byte(`"` + name + `"`), Deadline: time.Minute,
			}, "scrape")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.Complete(t.Context(), job.ID, "scrape", []byte(`{"car":1}`), "", ""); err != nil {
				t.Fatal(err)
			}
			if err := end(job); err != nil {
				t.Fatal(err)
			}
			if ended, err := store.Get(t.Context(), job.ID); err != nil || len(ended.Outputs) != 0 || ended.Steps["scrape"].State != jobs.StepDone {
				t.Errorf("%s: %+v, %v", name, ended, err)
			}
		}
	})
}

// TestAnInputIsKeptByteForByte: a retry has the dedup key of the request.
func TestAnInputIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	store := jobs.NewStore(redistest.Embedded(t).Client())
	n := newJob("https://a.example/sheet?a=1&b=<2>")
	n.Input = json.RawMessage(`{"url":"https://a.example/sheet?a=1&b=<2>"}`)
	job := run(t, store, n)
	read, err := store.Get(t.Context(), job.ID)
	if must(t)(err); string(read.Input) != string(n.Input) {
		t.Errorf("got %s, want %s", read.Input, n.Input)
	}
}

// TestOnlyAJobThatHasEndedIsForgotten: one that is queued or runs is joined.
func TestOnlyAJobThatHasEndedIsForgotten(t *testing.T) {
	t.Parallel()
	store := jobs.NewStore(redistest.Embedded(t).Client())
	n := newJob("https://a.example/" + t.Name())
	job := run(t, store, n)
	if forgot, err := store.ForgetRefusal(t.Context(), job.DedupKey); err != nil || forgot {
		t.Errorf("a job that runs: got %v, %v, want that it is kept", forgot, err)
	}
	again, joined, err := store.Create(t.Context(), n, "scrape")
	if err != nil || !joined || again.ID != job.ID {
		t.Fatalf("got %+v, %v, %v, want the job that runs", again, joined, err)
	}
	_, _, err = store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{}`)})
	must(t)(err)
	if forgot, err := store.ForgetRefusal(t.Context(), job.DedupKey); err != nil || !forgot {
		t.Errorf("a job that has ended: got %v, %v, want that it is forgotten", forgot, err)
	}
	if again, joined, err = store.Create(t.Context(), n, "scrape"); err != nil || joined || again.ID == job.ID {
		t.Errorf("got %+v, %v, %v, want another job", again, joined, err)
	}
}
