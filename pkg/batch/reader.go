package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
)

// Reader reads the rows of a batch in the states that they had when it was opened,
// a few at a time, so that its memory does not grow with the batch. Outcomes
// are those of the time of reading.
type Reader struct {
	store  *Store
	id     string
	keys   []string
	states string
	chunks map[int][]Row // the last few

	since     time.Time // zero: all rows
	ended     string    // when each row ended
	cancelled time.Time // the batch
	created   time.Time // the batch
}

// endedDigits is what the time of a row's end takes.
const endedDigits = 10

// Since makes the reader skip the rows of a batch that did not end at a time or later.
func (r *Reader) Since(ctx context.Context, b *Batch, at time.Time) (err error) {
	r.since, r.cancelled, r.created = at.Truncate(time.Second), b.Cancelled, b.Created
	if r.ended, err = r.store.redis.Get(ctx, r.keys[keyEnded]).Result(); errors.Is(err, redis.Nil) {
		err = nil // no row has an outcome
	}
	return err
}

// skips reports whether a row did not end in the time that is read.
func (r *Reader) skips(i int, state State) bool {
	if r.since.IsZero() {
		return false
	}
	switch state {
	case Waiting, Running:
		return true
	case Cancelled:
		return r.cancelled.Before(r.since)
	case Rejected:
		return r.created.Before(r.since)
	case Succeeded, Failed:
	}
	if len(r.ended) < (i+1)*endedDigits {
		return false // damaged
	}
	second, err := strconv.ParseInt(r.ended[i*endedDigits:(i+1)*endedDigits], 10, 64)
	return err == nil && time.Unix(second, 0).Before(r.since)
}

// Choose returns the indexes of up to limit rows from one on, of one state or, with "", of all, and the
// index of the next one; -1 when there is none.
func (r *Reader) Choose(from, limit int, state State) (chosen []int, next int) {
	for i := max(from, 0); i < len(r.states); i++ {
		now := stateOf(r.states[i])
		switch {
		case state != "" && now != state, r.skips(i, now):
		case len(chosen) == limit:
			return chosen, i
		default:
			chosen = append(chosen, i)
		}
	}
	return chosen, -1
}

// Read opens a batch for reading. ErrNotFound means that there is none.
func (s *Store) Read(ctx context.Context, id string) (*Reader, error) {
	keys := keysOf(id)
	states, err := s.redis.Get(ctx, keys[keyStates]).Result()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNotFound
	}
	return &Reader{store: s, id: id, keys: keys, states: states, chunks: map[int][]Row{}}, err
}

// Named returns the indexes of the rows with some numbers in a sheet. For a duplicate row it returns
// the index of the row that it duplicates.
func (r *Reader) Named(ctx context.Context, numbers map[int]bool, sheet string) (named []int, err error) {
	for i := range r.states {
		row, err := r.row(ctx, i)
		if err != nil {
			return nil, err
		}
		if row.Sheet == sheet && numbers[row.Number] {
			named = append(named, row.DuplicateOf)
		}
	}
	return named, nil
}

// Retried returns how many rows wait or run, and how many more Retry makes wait: all, or those with
// some indexes. Duplicates have no outcome of their own and are not counted.
func (r *Reader) Retried(rows []int) (open, again int) {
	named := map[int]bool{}
	for _, row := range rows {
		named[row] = true
	}
	for i, code := range []byte(r.states) {
		switch code {
		case codeOf(Waiting), codeOf(Running):
			open++
		case codeOf(Failed), codeOf(Cancelled):
			if rows == nil || named[i] {
				again++
			}
		}
	}
	return open, again
}

// Next returns up to limit items from an index on, of one state or, with "", of
// all, and the index of the next page; -1 at the end. Results are read only with
// full.
func (r *Reader) Next(ctx context.Context, from, limit int, state State, full bool) ([]Item, int, error) {
	chosen, next := r.Choose(from, limit, state)
	items, err := r.Items(ctx, chosen, full)
	return items, next, err
}

// Items returns the items of some indexes, in their order. Results are read only with full.
func (r *Reader) Items(ctx context.Context, indexes []int, full bool) ([]Item, error) {
	items := make([]Item, 0, len(indexes))
	for _, i := range indexes {
		if i < 0 || i >= len(r.states) {
			return nil, fmt.Errorf("batch: %s has no row %d", r.id, i)
		}
		row, err := r.row(ctx, i)
		if err != nil {
			return nil, err
		}
		items = append(items, Item{Row: row, Index: i, State: stateOf(r.states[i]), Error: row.RejectReason})
	}
	return items, r.outcomes(ctx, items, full)
}

// row returns a row. It reads the whole chunk of a row that is not in memory.
func (r *Reader) row(ctx context.Context, i int) (Row, error) {
	rows, read := r.chunks[i/chunk]
	if !read {
		var err error
		if rows, err = r.readChunk(ctx, i/chunk); err != nil {
			return Row{}, err
		}
		const few = 4
		if len(r.chunks) >= few {
			clear(r.chunks)
		}
		r.chunks[i/chunk] = rows
	}
	if i%chunk >= len(rows) {
		return Row{}, fmt.Errorf("batch: %s has no row %d", r.id, i)
	}
	return rows[i%chunk], nil
}

func (r *Reader) readChunk(ctx context.Context, n int) (rows []Row, err error) {
	packed, err := r.store.redis.HGet(ctx, r.keys[keyRows], strconv.Itoa(n)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNotFound // it has expired
	}
	if err != nil {
		return nil, err
	}
	data, err := redisx.Unpack(packed)
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("batch: rows of %s: %w", r.id, err)
	}
	return rows, nil
}

// outcomes adds the outcomes of the items. Results are read only with full.
func (r *Reader) outcomes(ctx context.Context, items []Item, full bool) error {
	pipe := r.store.redis.Pipeline()
	out := make([]*redis.StringCmd, len(items))
	for i, item := range items {
		field := strconv.Itoa(item.DuplicateOf)
		switch {
		case item.State == Failed, item.State == Succeeded && full:
			out[i] = pipe.HGet(ctx, r.keys[keyOut], field)
		case item.State == Running:
			out[i] = pipe.HGet(ctx, r.keys[keyRunning], field)
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	if err := redisx.Exec(ctx, pipe); err != nil {
		return err
	}
	for i := range items {
		if out[i] == nil {
			continue
		}
		if err := items[i].setOutcome(out[i].Val()); err != nil {
			return fmt.Errorf("batch: row %d of %s: %w", i, r.id, err)
		}
	}
	return nil
}

// setOutcome parses the outcome of an item in its state; text is empty when the
// item has left that state.
func (item *Item) setOutcome(text string) error {
	if text == "" {
		return nil
	}
	if item.State == Running {
		_, item.Job, _ = strings.Cut(text, " ")
		return nil
	}
	data, err := redisx.Unpack([]byte(text))
	if err != nil {
		return err
	}
	if item.State == Succeeded {
		item.Result = data
		return nil
	}
	item.Error = &jobs.Error{}
	return json.Unmarshal(data, item.Error)
}
