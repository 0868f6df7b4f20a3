package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/webhook"
)

// batchCompleted is the data of the event batch.completed. The results are at
// Results, for whoever has the key.
type batchCompleted struct {
	ID       string              `json:"id"`
	State    string              `json:"state"` // completed or cancelled
	Rows     int                 `json:"rows"`
	Counts   map[batch.State]int `json:"counts"`
	Created  time.Time           `json:"created"`
	Ended    time.Time           `json:"ended"`
	Location string              `json:"location"`
	Results  string              `json:"results"`
}

// emitCompleted tells the owner of a batch that it has ended. It may be called
// often: each end is one event, and a batch that was tried again ends anew.
func (f *dispatcher) emitCompleted(ctx context.Context, id string) error {
	b, err := f.batches.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Ended.IsZero() {
		return nil
	}
	if err != nil {
		return err
	}
	data := batchCompleted{
		ID: id, State: "completed", Rows: b.Rows, Counts: b.Counts, Created: b.Created, Ended: b.Ended,
		Location: "/v1/batches/" + id, Results: "/v1/batches/" + id + "/results",
	}
	if !b.Cancelled.IsZero() {
		data.State = "cancelled"
	}
	subject := fmt.Sprintf("%s@%d", id, b.Ended.UnixMilli())
	return f.webhooks.Emit(ctx, b.Owner, webhook.BatchCompleted, subject, b.Ended, data, b.Options.Webhook)
}
