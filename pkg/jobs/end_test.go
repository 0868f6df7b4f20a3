package jobs_test

import (
	"encoding/json"
	"slices"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestChildrenOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		for name, test := range map[string]func(*testing.T, *jobs.Store){
			"a subscriber is notified of the end":        subscriberIsNotified,
			"who comes too late learns how it ended":     lateLearns,
			"the last to let go cancels":                 lastCancels,
			"a job that a caller wants is not cancelled": askedStays,
			"a parent keeps its first child":             firstChildStays,
		} {
			t.Run(name, func(t *testing.T) { test(t, store) })
		}
	})
}

func child(t *testing.T, store *jobs.Store, parent string) *jobs.Job {
	t.Helper()
	n := newJob("https://a.example/" + t.Name())
	n.Subscriber = parent
	job, _, err := store.Create(t.Context(), n)
	must(t)(err)
	return job
}

func subscriberIsNotified(t *testing.T, store *jobs.Store) {
	job := child(t, store, "batch:b#1")
	if joined := child(t, store, "job:P"); joined.ID != job.ID {
		t.Fatal("the second parent got a job of its own")
	}
	child(t, store, "job:P") // says so twice
	_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "x"}}})
	must(t)(err)
	for _, want := range [][]string{{"batch:b#1", "job:P"}, {"job:P"}} {
		parents, err := store.PublishEnd(t.Context(), job, 0)
		must(t)(err)
		if slices.Sort(parents); !slices.Equal(parents, want) {
			t.Fatalf("to be notified: %v, want %v", parents, want)
		}
		must(t)(store.RemoveNotified(t.Context(), job.ID, []string{"batch:b#1"}))
	}
}

func lateLearns(t *testing.T, store *jobs.Store) {
	job := child(t, store, "job:P")
	_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{"a":1}`)})
	must(t)(err)
	if late := child(t, store, "job:Q"); late.ID != job.ID || string(late.Result) != `{"a":1}` {
		t.Fatalf("%+v", late)
	}
	parents, err := store.PublishEnd(t.Context(), job, 0)
	if must(t)(err); !slices.Equal(parents, []string{"job:P"}) {
		t.Fatalf("to be notified: %v", parents)
	}
}

func lastCancels(t *testing.T, store *jobs.Store) {
	job := child(t, store, "job:P")
	child(t, store, "job:Q")
	for _, c := range []struct {
		parent string
		ends   bool
	}{{"job:P", false}, {"job:P", false}, {"job:unknown", false}, {"job:Q", true}, {"job:Q", false}} {
		if ended, err := store.Unsubscribe(t.Context(), job.ID, c.parent); ended != c.ends || err != nil {
			t.Fatalf("%s lets go: %v, %v", c.parent, ended, err)
		}
	}
	if again := child(t, store, "job:R"); again.ID == job.ID {
		t.Fatal("joined a job that was cancelled")
	}
}

func askedStays(t *testing.T, store *jobs.Store) {
	job := child(t, store, "job:P")
	asked := child(t, store, "") // a caller joins it
	if ended, err := store.Unsubscribe(t.Context(), job.ID, "job:P"); ended || err != nil || asked.ID != job.ID {
		t.Fatalf("%v, %v", ended, err)
	}
	job, err := store.Get(t.Context(), job.ID)
	if must(t)(err); !job.RequestedByCaller || job.State.Ended() {
		t.Fatalf("%+v", job)
	}
}

func firstChildStays(t *testing.T, store *jobs.Store) {
	job := run(t, store, newJob("https://p.example/"+t.Name()))
	for _, id := range []string{"first", "second"} {
		if holder, err := store.SetChildJob(t.Context(), job.ID, "car1", id); holder != "first" || err != nil {
			t.Fatalf("%s, %v", holder, err)
		}
	}
	ends := jobs.Child{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "x", Message: "C&F"}, Details: json.RawMessage(`["&"]`)}}
	must(t)(store.SetChildOutcome(t.Context(), job.ID, "car1", ends))
	must(t)(store.SetChildOutcome(t.Context(), job.ID, "car1", jobs.Child{State: jobs.Cancelled}))
	must(t)(store.SetChildOutcome(t.Context(), job.ID, "car2", jobs.Child{State: jobs.Succeeded, Result: json.RawMessage(`{"name":"C&F"}`)}))
	job, err := store.Get(t.Context(), job.ID)
	must(t)(err)
	first, second := job.Children["car1"], job.Children["car2"]
	if first.Job != "first" || first.State != jobs.Failed || first.Error.Message != "C&F" || string(first.Error.Details) != `["&"]` ||
		second.Job != "" || second.State != jobs.Succeeded || string(second.Result) != `{"name":"C&F"}` {
		t.Fatalf("%+v", job.Children)
	}
	_, _, err = store.End(t.Context(), job, jobs.End{State: jobs.Cancelled})
	must(t)(err)
	if holder, err := store.SetChildJob(t.Context(), job.ID, "car1", "third"); holder != "" || err != nil {
		t.Fatalf("a job that has ended has children: %s, %v", holder, err)
	}
}
