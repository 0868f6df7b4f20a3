package operate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"ushuru/pkg/batch"
)

// BatchFilter says which batches are listed.
type BatchFilter struct {
	Key     string // id of the API key; "" for all
	Running bool   // only batches that have not ended
	Limit   int    // 0: no limit
}

// maxListedBatches bounds the batches of one key that are listed.
const maxListedBatches = 1000

// Batches returns the batches of all API keys that match, newest first.
func (o *Operator) Batches(ctx context.Context, f BatchFilter) (found []*batch.Batch, err error) {
	owners, err := o.owners(ctx, f.Key)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		all, err := o.batches.List(ctx, owner, "", cmp.Or(f.Limit, maxListedBatches))
		if err != nil {
			return nil, err
		}
		for _, b := range all {
			if !f.Running || b.Ended.IsZero() {
				found = append(found, b)
			}
		}
	}
	slices.SortFunc(found, func(a, b *batch.Batch) int { return b.Created.Compare(a.Created) })
	if f.Limit > 0 {
		found = found[:min(len(found), f.Limit)]
	}
	return found, nil
}

// Batch returns a batch of any API key.
func (o *Operator) Batch(ctx context.Context, id string) (*batch.Batch, error) {
	b, err := o.batches.Get(ctx, id)
	return b, notFound(err)
}

// CancelBatch ends a batch: rows that wait or run are cancelled. What has succeeded is kept. A job
// that others wait for too continues for them.
func (o *Operator) CancelBatch(ctx context.Context, id string) (*batch.Batch, error) {
	return act(ctx, o, "batches cancel", id, func() (*batch.Batch, error) {
		if _, err := o.Batch(ctx, id); err != nil {
			return nil, err
		}
		return o.cancelBatch(ctx, id)
	})
}

func (o *Operator) cancelBatch(ctx context.Context, id string) (*batch.Batch, error) {
	if err := o.batches.Cancel(ctx, id); err != nil {
		return nil, err
	}
	err := unlessFull(o.batches.Release(ctx, id, o.engine.LeaveRow(id)))
	err = errors.Join(err, unlessFull(o.engine.EnqueueDispatch(ctx))) // other batches take the places
	b, readErr := o.Batch(ctx, id)
	return b, errors.Join(err, readErr)
}

// RetryBatch makes the failed and the cancelled rows of a batch wait again, and returns it. The error is
// batch.ErrNoneFailed when there are none.
func (o *Operator) RetryBatch(ctx context.Context, id string) (*batch.Batch, error) {
	return act(ctx, o, "batches retry", id, func() (*batch.Batch, error) {
		if _, err := o.Batch(ctx, id); err != nil {
			return nil, err
		}
		if err := o.batches.Retry(ctx, id, rand.Text()); err != nil {
			return nil, err
		}
		if err := o.engine.EnqueueDispatch(ctx); err != nil {
			return nil, err
		}
		return o.Batch(ctx, id)
	})
}
