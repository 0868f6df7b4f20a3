package operator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/caller"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/operate"
)

// Batches is about batches that were submitted: those of the caller over the API, or of
// all keys. The command batch submits one.
type Batches struct {
	List    batchesList           `cmd:"" help:"List your batches, newest first; as the operator, those of all API keys."`
	Show    batchesShow           `cmd:"" help:"Print the status of a batch."`
	Rows    caller.BatchesRows    `cmd:"" help:"List the rows of a batch with their state."`
	Results caller.BatchesResults `cmd:"" help:"Write the results of a batch to a file, also while it runs."`
	Follow  caller.BatchesFollow  `cmd:"" help:"Wait for the end of a batch."`
	Cancel  batchesCancel         `cmd:"" help:"Cancel the rows of a batch that wait; as the operator, those that run too."`
	Retry   batchesRetry          `cmd:"" help:"Retry the failed rows of a batch."`
}

// batchView is a batch as the operator sees it.
type batchView struct {
	ID          string              `json:"id"`
	Key         string              `json:"key"` // id of the API key
	Rows        int                 `json:"rows"`
	Counts      map[batch.State]int `json:"counts"`
	PerSecond   float64             `json:"perSecond,omitempty"`
	SecondsLeft int                 `json:"secondsLeft,omitempty"`
	Created     time.Time           `json:"created"`
	Cancelled   time.Time           `json:"cancelled,omitzero"`
	Ended       time.Time           `json:"ended,omitzero"`
}

func newBatchView(b *batch.Batch) batchView {
	return batchView{
		ID: b.ID, Key: b.Owner, Rows: b.Rows, Counts: b.Counts, PerSecond: b.PerSecond,
		SecondsLeft: int(b.Remaining().Seconds()), Created: b.Created, Cancelled: b.Cancelled, Ended: b.Ended,
	}
}

// outcomes returns the counts of a batch that are not zero.
func (v batchView) outcomes() string {
	var parts []string
	for _, state := range batch.States() {
		if n := v.Counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

func (v batchView) left() string {
	if v.SecondsLeft == 0 {
		return ""
	}
	return (time.Duration(v.SecondsLeft) * time.Second).String()
}

func printBatch(s *Session, f console.Format, b *batch.Batch) error {
	v := newBatchView(b)
	return console.Show(s.Streams, f, v, []console.Field{
		{Name: "Batch", Value: v.ID},
		{Name: "Key", Value: v.Key},
		{Name: "Rows", Value: fmt.Sprintf("%d: %s", v.Rows, v.outcomes())},
		{Name: "Left", Value: v.left()},
		{Name: "Created", Value: console.Time(v.Created)},
		{Name: "Cancelled", Value: console.Time(v.Cancelled)},
		{Name: "Ended", Value: console.Time(v.Ended)},
	})
}

type batchesList struct {
	caller.BatchesList
	asOperator

	Owner   string `help:"As the operator: only batches of the API key with this id." placeholder:"ID"`
	Running bool   `help:"As the operator: only batches that have not ended."`
}

// Run is called by kong.
func (c *batchesList) Run(s *Session) error {
	return c.either(s, c.Key, c.BatchesList.Run, func(ctx context.Context, o *operate.Operator) error {
		all, err := o.Batches(ctx, operate.BatchFilter{Key: c.Owner, Running: c.Running, Limit: c.Limit})
		if err != nil {
			return err
		}
		views := make([]batchView, len(all))
		for i, b := range all {
			views[i] = newBatchView(b)
		}
		return console.List(s.Streams, c.Format, views, "ID\tKEY\tROWS\tOUTCOMES\tA SECOND\tLEFT\tCREATED\tENDED",
			func(v batchView) []string {
				return []string{
					v.ID, v.Key, strconv.Itoa(v.Rows), v.outcomes(), strconv.FormatFloat(v.PerSecond, 'f', 1, 64), v.left(),
					console.Time(v.Created), console.Time(v.Ended),
				}
			})
	})
}

type batchesShow struct {
	caller.BatchesShow
	asOperator
}

// Run is called by kong.
func (c *batchesShow) Run(s *Session) error {
	return c.either(s, c.Key, c.BatchesShow.Run, func(ctx context.Context, o *operate.Operator) error {
		b, err := o.Batch(ctx, c.ID)
		if err != nil {
			return err
		}
		return printBatch(s, c.Format, b)
	})
}

type batchesCancel struct {
	caller.BatchesCancel
	asOperator
}

// Run is called by kong.
func (c *batchesCancel) Run(s *Session) error {
	return c.either(s, c.Key, c.BatchesCancel.Run, func(ctx context.Context, o *operate.Operator) error {
		b, err := o.CancelBatch(ctx, c.ID)
		if err != nil {
			return err
		}
		return printBatch(s, c.Format, b)
	})
}

type batchesRetry struct {
	caller.BatchesRetry
	asOperator
}

// Run is called by kong.
func (c *batchesRetry) Run(s *Session) error {
	return c.either(s, c.Key, c.BatchesRetry.Run, func(ctx context.Context, o *operate.Operator) error {
		b, err := o.RetryBatch(ctx, c.ID)
		if errors.Is(err, batch.ErrNoneFailed) {
			return errors.New("no row of the batch has failed")
		}
		if err != nil {
			return err
		}
		return printBatch(s, c.Format, b)
	})
}
