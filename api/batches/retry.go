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
	rows, err := rowsNamed(r.URL.Query()["row"], b.Rows)
	if err != nil {
		return err
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
		again := await.Demand{Rows: retried(b, rows), Keep: batch.RetryRoom(b)}
		if again.Rows == 0 {
			return batch.ErrNoneFailed
		}
		if err := s.options.Limits.Take(w, r, again); err != nil {
			return err
		}
		defer s.options.Limits.LeaveRows(r)
		if err = s.options.Batches.Retry(ctx, b.ID, name, rows...); err != nil {
			err = errors.Join(err, s.giveBackUnretried(r, b.ID, name, again.Rows))
		}
	}
	if err != nil {
		return err
	}
	s.enqueueDispatch(r.Context())
	return s.Get(w, plain)
}

// rowsNamed returns the indexes of rows that are named by their numbers; nil for no names.
func rowsNamed(names []string, most int) (rows []int, err error) {
	for _, name := range names {
		row, err := strconv.Atoi(name)
		if err != nil || row < 1 || row > most {
			return nil, problem.Field("row", "range", 1, most)
		}
		rows = append(rows, row-1)
	}
	return rows, nil
}

// retried returns how many rows of a batch wait again at most, when only some are named or none.
func retried(b *batch.Batch, named []int) int {
	count := b.Counts[batch.Failed] + b.Counts[batch.Cancelled]
	if named == nil {
		return count
	}
	return min(count, len(named))
}

// giveBackUnretried gives back the room of rows that were not retried. Rows that have not ended yet
// keep the room that they had before; so do those that may wait again although the answer was lost.
func (s *Resource) giveBackUnretried(r *request.Request, id, name string, rows int) error {
	done, err := s.options.Batches.WasRetried(context.WithoutCancel(r.Context()), id, name)
	if err != nil || done {
		return nil //nolint:nilerr // the error of the request is told
	}
	return s.options.Limits.GiveBack(r, pace.Kept{Name: batch.PromiseName(id), Size: int64(rows) * batch.RowRoom})
}
