package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
)

// openStore opens a store on an embedded Redis. Call closeStore at the end.
func openStore(ctx context.Context) (store *jobs.Store, closeStore func()) {
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		panic(err)
	}
	return jobs.NewStore(conn.Client()), func() { _ = conn.Close() }
}

// Two callers request the same work: the second one joins the job of the first.
func ExampleStore_Create() {
	ctx := context.Background()
	store, closeStore := openStore(ctx)
	defer closeStore()

	request := jobs.New{
		Kind: "estimate", Class: jobs.Interactive, Owner: "key1", Deadline: time.Minute,
		Input: json.RawMessage(`{"url":"https://cars.example/1"}`),
	}
	first, joined, _ := store.Create(ctx, request)
	fmt.Println(first.State, joined)
	second, joined, _ := store.Create(ctx, request)
	fmt.Println(second.ID == first.ID, joined)
	// Output:
	// queued false
	// true true
}

// A worker claims a step, fails, releases the step for a retry, and completes it
// with the next claim. An earlier attempt can claim nothing.
func ExampleStore_Claim() {
	ctx := context.Background()
	store, closeStore := openStore(ctx)
	defer closeStore()

	job, _, _ := store.Create(ctx, jobs.New{Kind: "estimate", Class: jobs.Interactive, Deadline: time.Minute})
	_, _ = store.Open(ctx, job.ID, "scrape")
	result, _, _ := store.Claim(ctx, job.ID, "scrape", 1, "worker1", "claim1")
	fmt.Println(result)
	_ = store.Release(ctx, job.ID, "claim1", true)
	_, job, _ = store.Claim(ctx, job.ID, "scrape", 1, "worker1", "claim2")
	fmt.Println("retries:", job.Steps["scrape"].Retries)
	_, _ = store.Complete(ctx, job.ID, "scrape", json.RawMessage(`{}`), "", "")
	result, _, _ = store.Claim(ctx, job.ID, "scrape", 1, "worker2", "claim3")
	fmt.Println(result)
	// Output:
	// run
	// retries: 1
	// done
}

// A request waits for the end of a job without polling.
func ExampleHub_Ended() {
	ctx, stop := context.WithCancel(context.Background())
	store, closeStore := openStore(ctx)
	hub := jobs.NewHub(store)
	stopped := make(chan struct{})
	go func() {
		hub.Run(ctx)
		close(stopped)
	}()
	defer func() {
		stop()
		<-stopped
		closeStore()
	}()

	job, _, _ := store.Create(ctx, jobs.New{Kind: "estimate", Class: jobs.Interactive, Deadline: time.Minute})
	ended, leave := hub.Ended(job.ID)
	defer leave()
	_, _, err := store.End(ctx, job, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(`{"total":1}`)})
	if err != nil {
		panic(err)
	}
	<-ended
	job, err = store.Get(ctx, job.ID)
	fmt.Println(job.State, string(job.Result), err)
	// Output: succeeded {"total":1} <nil>
}
