package status

import (
	"context"
	"errors"
	"slices"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/pace"
)

// Batch is a batch of any key.
type Batch struct {
	ID        string              `json:"id"`
	Key       string              `json:"key"`  // id of the API key
	Name      string              `json:"name"` // of the key
	Rows      int                 `json:"rows"`
	Counts    map[batch.State]int `json:"counts"`
	PerSecond float64             `json:"perSecond"`
	Created   time.Time           `json:"created"`
	EndsAbout *time.Time          `json:"endsAbout"` // null when it has ended, or is not known
	Ended     *time.Time          `json:"ended"`
	Cancelled *time.Time          `json:"cancelled"`
	// Reason is the code with which most rows failed, of the first reasonRows that did.
	Reason string `json:"reason,omitempty"`
}

// Left returns how many rows have no outcome yet.
func (b Batch) Left() int { return b.Counts[batch.Waiting] + b.Counts[batch.Running] }

// Done returns how many rows have a result.
func (b Batch) Done() int { return b.Counts[batch.Succeeded] }

// Failed returns how many rows have failed.
func (b Batch) Failed() int { return b.Counts[batch.Failed] }

const (
	// batchesShown is how many batches are shown, and batchesOfKey those of one key that
	// are looked at.
	batchesShown = 20
	batchesOfKey = 5
	// reasonRows is how many failed rows of a batch are looked at.
	reasonRows = 50
)

func (r *reading) batchPart(ctx context.Context) ([]Batch, error) {
	owners := append(make([]string, 0, len(r.issued)+2), pace.Operator, pace.Anonymous)
	for _, key := range r.issued {
		owners = append(owners, key.ID)
	}
	ids, err := r.batches.Newest(ctx, owners, batchesOfKey)
	if err != nil {
		return nil, err
	}
	for _, b := range r.active { // an old one may run still
		if !b.Ended && !b.Missing {
			ids = append(ids, b.ID)
		}
	}
	slices.Sort(ids) // by time
	slices.Reverse(ids)
	ids = slices.Compact(ids)
	running := func(id string) bool {
		return slices.ContainsFunc(r.active, func(b batch.ActiveBatch) bool { return b.ID == id && !b.Ended })
	}
	slices.SortStableFunc(ids, func(a, b string) int { return -boolCompare(running(a), running(b)) })
	var all []Batch
	for _, id := range ids {
		if len(all) == batchesShown {
			break
		}
		b, err := r.batches.Get(ctx, id)
		if errors.Is(err, batch.ErrNotFound) {
			continue
		}
		if err != nil {
			return all, err
		}
		shown := r.batch(b)
		if shown.Reason, err = r.reasonOf(ctx, b); err != nil {
			return all, err
		}
		all = append(all, shown)
	}
	return all, nil
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (r *reading) batch(b *batch.Batch) Batch {
	shown := Batch{
		ID: b.ID, Key: b.Owner, Name: r.nameOf(b.Owner), Rows: b.Rows, Counts: b.Counts, PerSecond: b.PerSecond,
		Created: b.Created,
	}
	if b.Remaining > 0 {
		end := r.now.Add(b.Remaining).UTC().Truncate(time.Second)
		shown.EndsAbout = &end
	}
	if !b.Ended.IsZero() {
		shown.Ended = &b.Ended
	}
	if !b.Cancelled.IsZero() {
		shown.Cancelled = &b.Cancelled
	}
	return shown
}

// reasonOf returns the code with which most rows of a batch failed.
func (r *reading) reasonOf(ctx context.Context, b *batch.Batch) (string, error) {
	if b.Counts[batch.Failed] == 0 {
		return "", nil
	}
	reader, err := r.batches.Read(ctx, b.ID)
	if err != nil {
		return "", err
	}
	items, _, err := reader.Next(ctx, 0, reasonRows, batch.Failed, false)
	if err != nil {
		return "", err
	}
	counts := map[string]int{}
	most := ""
	for _, item := range items {
		if item.Error == nil {
			continue
		}
		code := item.Error.Code
		if counts[code]++; counts[code] > counts[most] {
			most = code
		}
	}
	return most, nil
}
