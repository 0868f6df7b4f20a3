package worker

import (
	"encoding/json"
	"testing"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
)

// hooked is the key that has an endpoint.
const hooked = "key1"

// completions are the events batch.completed of an endpoint, newest first.
func (f *dispatcherRig) completions(endpoint string) (found []batchCompleted) {
	f.t.Helper()
	deliveries, err := f.webhooks.Deliveries(f.t.Context(), hooked, endpoint, 10)
	f.must(err)
	for _, d := range deliveries {
		var message webhook.Message
		var data batchCompleted
		f.must(json.Unmarshal(d.Payload, &message))
		if message.Type == "webhook.verification" {
			continue // the endpoint has not answered yet
		}
		f.must(json.Unmarshal(message.Data, &data))
		f.is("event", message.Type, webhook.BatchCompleted)
		found = append(found, data)
	}
	return found
}

// endAll ends the running rows until no row waits.
func (f *dispatcherRig) endAll(id string) {
	f.t.Helper()
	for range 10 {
		f.must(f.dispatch(f.t.Context()))
		for _, item := range f.items(id) {
			if item.State == batch.Running {
				f.endJob(item, nil)
			}
		}
	}
}

func TestTheEndOfABatchEmitsAnEvent(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newDispatcherRig(t, conn)
		endpoint, _, err := f.webhooks.Add(t.Context(), hooked, webhook.NewID(), "https://receiver.example/", []string{webhook.BatchCompleted})
		f.must(err)
		id := f.batch(hooked, 3)
		f.must(f.checkBatches(t.Context()))
		f.is("before the end", len(f.completions(endpoint.ID)), 0)
		f.endAll(id)
		for range 3 { // the sweep finds it ended, and says so again
			f.must(conn.Client().Del(t.Context(), "batches:checked").Err())
			f.must(f.checkBatches(t.Context()))
		}
		events := f.completions(endpoint.ID)
		f.is("events", len(events), 1)
		f.is("state", events[0].State, "completed")
		f.is("rows", events[0].Counts[batch.Succeeded], 3)
	})
}

// The worker that noted the last row died before it could tell anybody.
func TestAnUnannouncedEndIsFound(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newDispatcherRig(t, conn)
		endpoint, _, err := f.webhooks.Add(t.Context(), hooked, webhook.NewID(), "https://receiver.example/", []string{webhook.BatchCompleted})
		f.must(err)
		id := f.batch(hooked, 1)
		f.must(f.dispatch(t.Context()))
		_, err = f.batches.Succeed(t.Context(), id, 0, json.RawMessage(`{}`))
		f.must(err)
		f.is("events", len(f.completions(endpoint.ID)), 0)
		f.must(f.checkBatches(t.Context()))
		f.is("events", len(f.completions(endpoint.ID)), 1)
	})
}

// The endpoint of a batch gets the event of its end, and of no other batch.
func TestTheWebhookOfABatchGetsItsEnd(t *testing.T) {
	f := newDispatcherRig(t, redistest.Open(t, redistest.Start(t).URL))
	endpoint, _, err := f.webhooks.Add(t.Context(), hooked, webhook.NewID(), "https://receiver.example/", []string{})
	f.must(err)
	f.endAll(f.batch(hooked, 1))
	f.is("events", len(f.completions(endpoint.ID)), 0)
	named, err := f.batches.Create(t.Context(), batch.New{
		Owner: hooked, Rows: []batch.Row{{Number: 1, URL: "https://cars.example/named"}}, Options: batch.Options{Webhook: endpoint.ID},
	})
	f.must(err)
	f.endAll(named.ID)
	events := f.completions(endpoint.ID)
	f.is("events", len(events), 1)
	f.is("batch", events[0].ID, named.ID)
}

// A row whose job has succeeded, and whose result is lost, stays running: it gets another job.
func TestARowIsNotEndedWithoutItsResult(t *testing.T) {
	t.Parallel()
	f := newDispatcherRig(t, redistest.Open(t, redistest.Start(t).URL))
	id := f.batch(hooked, 1)
	f.must(f.dispatch(t.Context()))
	f.must(f.outcomes.record(t.Context(), id, 0, &jobs.Job{State: jobs.Succeeded}))
	f.is("state", f.items(id)[0].State, batch.Running)
}
