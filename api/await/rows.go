package await

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

var (
	errTooManyBatchItems = problem.New(http.StatusTooManyRequests, "too_many_batch_items", nil).After(time.Minute)
	errBatchTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
)

// rowsReservedFor is how long rows are reserved for a batch that is about to be created. Those
// of a process that was killed are free afterwards.
const rowsReservedFor = 15 * time.Second

// TakeRows counts a request, rows of a batch that are about to run and the bytes that are stored
// for them, unless its key would exceed one of its limits. It sets the headers RateLimit and
// Key-Bytes. Leave ends the reservation of the rows: their batch counts them then, or there is none.
func (l *Limits) TakeRows(w http.ResponseWriter, r *request.Request, rows int, things ...pace.Kept) (leave func(), err error) {
	if err := l.CheckRate(w, r); err != nil {
		return nil, err
	}
	if leave, err = l.reserveRows(r, rows); err != nil {
		return nil, err
	}
	account, ok, err := l.takeBytes(w, r, things)
	if err == nil && !ok {
		err = tooManyBytesOfRows(account, total(things), int64(rows))
	}
	if err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// reserveRows reserves rows of a key, unless they would exceed its limit together with those that
// others have reserved or that run. They are reserved before those that run are counted: so
// another batch is in one of the two numbers, or for a moment in both.
func (l *Limits) reserveRows(r *request.Request, more int) (leave func(), err error) {
	ctx := r.Context()
	limit := l.of(r).BatchItems
	if limit <= 0 {
		return func() {}, nil
	}
	if more > limit {
		return nil, errBatchTooLarge
	}
	reserved := pace.Kept{Name: rand.Text(), Size: int64(more), TTL: rowsReservedFor}
	leave = func() { // else it falls back by itself
		_ = l.options.Rows.Forget(context.WithoutCancel(ctx), r.Holder(), reserved.Name)
	}
	account, ok, err := l.options.Rows.Take(ctx, r.Key.ID, int64(limit), reserved)
	running := 0
	if err == nil && ok {
		running, err = l.options.Batches.CountActiveRows(ctx, r.Key.ID)
	}
	switch {
	case err != nil:
		return nil, err
	case !ok || account.Used+int64(running) > int64(limit):
		leave()
		return nil, errTooManyBatchItems
	}
	return leave, nil
}

// tooManyBytesOfRows says how many of the rows of a batch there is room for, and when there will be more.
func tooManyBytesOfRows(account pace.Account, needed, rows int64) error {
	status, variant, room := http.StatusTooManyRequests, "too_many_bytes.batch", account.Left()
	ever := needed <= account.Limit
	if !ever {
		status, variant, room = http.StatusRequestEntityTooLarge, "too_many_bytes.batch_once", account.Limit
	}
	p := problem.New(status, variant, message.Values{
		"needed": megabytes(needed), "free": megabytes(account.Left()), "limit": megabytes(account.Limit),
		"rows": strconv.FormatInt(room*rows/needed, 10),
	})
	if ever {
		p = p.After(untilFree(account))
	}
	return p
}

// megabytes is a size as people read it, not less than it is.
func megabytes(size int64) string {
	return fmt.Sprintf("%.1f MB", math.Ceil(float64(size)/(1<<20)*10)/10)
} //nolint:mnd // tenths
