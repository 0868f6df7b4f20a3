package batches

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/pace"
)

// Retry answers POST /v1/batches/{id}/retry: failed and cancelled rows wait again, all of them or
// those that the parameter "row" names.
func (s *Resource) Retry(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	b, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	var rows []int // their indexes
	for _, text := range r.URL.Query()["row"] {
		row, err := strconv.Atoi(text)
		if err != nil || row < 1 || row > b.Rows {
			return problem.Field("row", "range", 1, b.Rows)
		}
		rows = append(rows, row-1)
	}
	same, err := s.options.Work.Begin(w, r, rows)
	if err != nil {
		return err
	}
	// The name of the retry is stored before it is carried out: the same
	// request under one Idempotency-Key finds that it was, or carries it out.
	name, err := same.SetOutcome(r.Context(), "retry", rand.Text())
	if err != nil {
		return err
	}
	ctx := r.Context()
	done, err := s.options.Batches.WasRetried(ctx, b.ID, name)
	if err != nil {
		return err
	}
	if !done {
		again := await.Demand{Rows: b.Counts[batch.Failed] + b.Counts[batch.Cancelled], Keep: batch.RetryRoom(b)}
		if again.Rows == 0 {
			return batch.ErrNoneFailed
		}
		if rows != nil {
			again.Rows = min(again.Rows, len(rows))
		}
		if err := s.options.Limits.Take(w, r, again); err != nil {
			return err
		}
		defer s.options.Limits.LeaveRows(r)
		if err = s.options.Batches.Retry(ctx, b.ID, name, rows...); err != nil {
			// Rows that have not ended yet keep the room that they had before; so do those that may wait
			// again although the answer was lost.
			room := pace.Kept{Name: batch.PromiseName(b.ID), Size: int64(again.Rows) * batch.RowRoom}
			done, readErr := s.options.Batches.WasRetried(context.WithoutCancel(ctx), b.ID, name)
			if readErr == nil && !done {
				err = errors.Join(err, s.options.Limits.GiveBack(r, room))
			}
		}
	}
	if err != nil {
		return err
	}
	s.enqueueDispatch(r.Context())
	return s.Get(w, plain)
}
