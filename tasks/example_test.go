package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// How a job moves: Submit opens its first step, every Complete opens the next one,
// and the output of the last step is the result. Workers do what the loop does.
func Example() {
	ctx := context.Background()
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		panic(err)
	}
	defer func() { _ = conn.Close() }()
	engine, store := enginetest.NewEngine(conn.Client()), jobs.NewStore(conn.Client())

	job, err := engine.Submit(ctx, tasks.KindEstimate, tasks.EstimateInput{URL: "https://cars.example/1"},
		tasks.Requester{Owner: "key1", Class: jobs.Interactive})
	for err == nil {
		if job, err = store.Get(ctx, job.ID); err != nil || job.State.Ended() {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(job.Steps)) {
			if job.Steps[name].State == jobs.StepReady {
				fmt.Println("run", name)
				_, err = engine.Complete(ctx, job, name, json.RawMessage(`{"from":"`+name+`"}`), tasks.Run{})
			}
		}
	}
	fmt.Println(job.State, string(job.Result), err)
	// Output:
	// run scrape
	// run match
	// run calculate
	// succeeded {"from":"calculate"} <nil>
}

// A caller cancels a job. Others who wait for it keep it running.
func ExampleEngine_CancelFor() {
	ctx := context.Background()
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		panic(err)
	}
	defer func() { _ = conn.Close() }()
	engine := enginetest.NewEngine(conn.Client())

	job, _ := engine.Estimate(ctx, "https://cars.example/1", "key1", jobs.Interactive)
	_, _ = engine.Estimate(ctx, "https://cars.example/1", "key2", jobs.Interactive) // joins the job

	_, err = engine.CancelFor(ctx, job.ID, "key1")
	fmt.Println(err)
	job, err = engine.CancelFor(ctx, job.ID, "key2")
	fmt.Println(job.State, err)
	// Output:
	// tasks: others wait for the job
	// cancelled <nil>
}

// A failed step that returns a snooze is attempted again without a retry.
func ExampleSnooze() {
	err := tasks.Snooze(0, errors.New("the circuit breaker is open"))
	fmt.Println(tasks.IsFailure(err), tasks.JobError(err).Code)
	// Output: false deadline_exceeded
}
