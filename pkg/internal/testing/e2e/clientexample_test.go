package e2e

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"

	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

// ofExamples is the demo, once an example has started it: the whole service with SIMULATED
// figures. The examples, which run one after the other, call its API as they would call
// any.
var ofExamples struct {
	demo  *demo.Demo
	redis *redisx.Conn
}

// stopDemo stops the demo of the examples.
func stopDemo() {
	if ofExamples.demo != nil {
		ofExamples.demo.Stop()
		_ = ofExamples.redis.Close()
	}
}

func theDemo() *demo.Demo {
	if ofExamples.demo != nil {
		return ofExamples.demo
	}
	var err error
	if ofExamples.redis, err = redisx.Open(context.Background(), redisx.Options{AllowEmbedded: true}); err != nil {
		log.Fatal(err)
	}
	ofExamples.demo, err = demo.Start(context.Background(), demo.Options{Redis: ofExamples.redis, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	return ofExamples.demo
}

// connect returns a client of the demo, and the URL of a listing on its site.
func connect(car int) (ushuru *client.Client, listing string) {
	d := theDemo()
	ushuru, err := client.New(client.Options{URL: d.URL, Key: d.Key})
	if err != nil {
		log.Fatal(err)
	}
	return ushuru, d.Site + listingtest.Cars()[car].Path()
}

// A listing is estimated, and the context says how long one waits for it.
func Example_clientEstimate() {
	ushuru, listing := connect(0)
	estimate, err := ushuru.Estimate(context.Background(), client.EstimateRequest{URL: listing})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(estimate.Car.Make, estimate.Car.Model, "is", estimate.Matched.ModelBody)
	// Output: TOYOTA COROLLA AXIO is COROLLA AXIO - NKE165 - HYBRID - SEDAN
}

// WithProgress shows how far the work has come.
func Example_clientProgress() {
	ushuru, listing := connect(1)
	last := ""
	_, err := ushuru.Estimate(context.Background(), client.EstimateRequest{URL: listing},
		client.WithProgress(func(job *client.Job) {
			last = fmt.Sprintf("%s: %d of %d", job.State, job.Progress.Done, job.Progress.Total)
		}))
	fmt.Println(last, err)
	// Output: succeeded: 3 of 3 <nil>
}

// An error of the API is a *client.Error with its code.
func Example_clientError() {
	ushuru, _ := connect(0)
	_, err := ushuru.Quote(context.Background(), client.QuoteRequest{
		QuoteInput: vehicle.QuoteInput{Make: "toyota", Model: "no such car", Year: 2016},
	})
	if refused, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(refused.Code)
	}
	// Output: no_match
}

// A batch is followed until it ends, and its results are read as they arrive.
func Example_clientBatch() {
	ushuru, listing := connect(0)
	ctx := context.Background()
	batch, err := ushuru.CreateBatch(ctx, client.BatchRequest{Items: []client.BatchRow{
		{Reference: "LOT-17", URL: listing}, {Reference: "LOT-18", URL: listing + "?again"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for status, err := range ushuru.BatchEvents(ctx, batch.ID) {
		if err != nil {
			fmt.Println(err)
			return
		}
		batch = status
	}
	fmt.Println(batch.State)
	for item, err := range ushuru.BatchResults(ctx, batch.ID) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Reference, item.State, item.Estimate.Car.Model)
	}
	// Output:
	// completed
	// LOT-17 succeeded COROLLA AXIO
	// LOT-18 succeeded COROLLA AXIO
}

// A job can be submitted by one process and read by another.
func Example_clientSubmit() {
	ushuru, listing := connect(2)
	ctx := context.Background()
	job, err := ushuru.Submit(ctx, client.EstimateRequest{URL: listing})
	if err != nil {
		fmt.Println(err)
		return
	}
	for moved, err := range ushuru.JobEvents(ctx, job.ID, client.Terms{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		job = moved
	}
	fmt.Println(job.State, len(job.Result) > 0)
	// Output: succeeded true
}
