package await

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
)

// rowsReservedFor is how long rows are reserved for a batch that is about to be created. Those
// of a process that was killed are free afterwards.
const rowsReservedFor = 15 * time.Second

// checkRows reserves rows of a key, unless they would exceed its limit together with those that
// others have reserved or that run. They are reserved before those that run are counted: so
// another batch is in one of the two numbers, or for a moment in both.
func (l *Limits) checkRows(ctx context.Context, r *request.Request, more int) error {
	limit := l.of(r).BatchItems
	if limit <= 0 {
		return nil
	}
	if more > limit {
		return errBatchTooLarge
	}
	r.Reserved = rand.Text()
	rows := pace.Kept{Name: r.Reserved, Size: int64(more), TTL: rowsReservedFor}
	reserved, ok, err := l.options.Rows.Take(ctx, r.Key.ID, int64(limit), rows)
	running := 0
	if err == nil && ok {
		running, err = l.options.Batches.CountActiveRows(ctx, r.Key.ID)
	}
	switch {
	case err != nil:
		return err
	case !ok || reserved.Used+int64(running) > int64(limit):
		l.LeaveRows(r) //nolint:contextcheck // it has that of the request
		return errTooManyBatchItems
	}
	return nil
}

// LeaveRows ends the reservation of rows: their batch counts them now, or there is none.
func (l *Limits) LeaveRows(r *request.Request) {
	if r.Reserved == "" {
		return
	}
	_ = l.options.Rows.Forget(context.WithoutCancel(r.Context()), r.Holder(), r.Reserved) // else it falls back by itself
	r.Reserved = ""
}

// Track counts a running job in the place that Take has reserved for it; nil counts none.
func (l *Limits) Track(r *request.Request, job *jobs.Job) error {
	if r.Reserved == "" {
		return nil
	}
	id := ""
	if job != nil && !job.State.Ended() {
		id = job.ID
	}
	place := r.Reserved
	r.Reserved = ""
	return l.options.Jobs.Track(context.WithoutCancel(r.Context()), r.Holder(), place, id)
}

// GiveBack ends the count of what Take has counted and what is not kept, also when the client
// has gone away.
func (l *Limits) GiveBack(r *request.Request, things ...pace.Kept) error {
	back := slices.Clone(things)
	for i := range back {
		back[i].Size = -back[i].Size
	}
	_, err := l.options.Bytes.Settle(context.WithoutCancel(r.Context()), pace.Holder{Whole: r.Caller()}, back...)
	return err
}
