package status

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/batch"
	"ushuru/pkg/keys"
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
	if left := b.Remaining(); left > 0 && b.Ended.IsZero() {
		end := r.now.Add(left).UTC().Truncate(time.Second)
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

// Key is an API key.
type Key struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Hint     string     `json:"hint"` // its last four characters
	Created  time.Time  `json:"created"`
	Revoked  *time.Time `json:"revoked"`
	Expires  *time.Time `json:"expires"`  // null: never
	LastUsed *time.Time `json:"lastUsed"` // to the minute
	Today    int64      `json:"today"`    // requests on this day in Dar es Salaam
	// Own are the limits of the key, Limits those that hold.
	Own    pace.Limits `json:"own,omitzero"`
	Limits pace.Limits `json:"limits"`
	// What it uses now; nil of a key that was not used for a day.
	Uses []Use `json:"uses,omitempty"`
}

// What a key uses of its limits.
const (
	UseJobs   = "jobs"   // running ones, without those of batches
	UseRows   = "rows"   // listings in running batches
	UseBytes  = "bytes"  // that are kept for it
	UseTokens = "tokens" // of the AI, today
)

// Use is how much of a limit a key uses.
type Use struct {
	What  string `json:"what"`
	Used  int64  `json:"used"`
	Limit int64  `json:"limit"` // 0: none
}

// Percent returns the part of the limit that is used; 0 without a limit.
func (u Use) Percent() int { return percent(u.Used, u.Limit) }

// Nearest returns the limit that is nearest; false without any.
func (k Key) Nearest() (nearest Use, ok bool) {
	for _, use := range k.Uses {
		if use.Limit > 0 && (!ok || use.Percent() > nearest.Percent()) {
			nearest, ok = use, true
		}
	}
	return nearest, ok
}

// keysInUse is how many keys are looked at for what they use, those used last.
const keysInUse = 200

func (r *reading) keyPart(ctx context.Context) ([]Key, error) {
	all := make([]Key, 0, len(r.issued))
	for _, key := range r.issued {
		all = append(all, r.key(key))
	}
	slices.SortStableFunc(all, func(a, b Key) int {
		return cmp.Or(boolCompare(a.Revoked != nil, b.Revoked != nil), timeOf(b.LastUsed).Compare(timeOf(a.LastUsed)),
			b.Created.Compare(a.Created))
	})
	lately := r.now.Add(-24 * time.Hour)
	n := 0
	for n < min(len(all), keysInUse) && all[n].Revoked == nil && timeOf(all[n].LastUsed).After(lately) {
		n++
	}
	return all, r.addUses(ctx, all[:n])
}

func (r *reading) key(key keys.Key) Key {
	shown := Key{
		ID: key.ID, Name: key.Name, Hint: key.Hint, Created: key.Created, Today: r.usage[key.ID].Today,
		Own: key.Limits, Limits: key.Limits.Or(r.options.Limits),
	}
	if !key.Revoked.IsZero() {
		shown.Revoked = &key.Revoked
	}
	if !key.Expires.IsZero() {
		shown.Expires = &key.Expires
	}
	if used := r.usage[key.ID].LastUsed; !used.IsZero() {
		shown.LastUsed = &used
	}
	return shown
}

// addUses adds what keys use now.
func (r *reading) addUses(ctx context.Context, used []Key) error {
	rows := map[string]int64{}
	for _, b := range r.active {
		rows[b.Owner] += int64(b.Waiting + b.Running)
	}
	ids := make([]string, len(used))
	for i, key := range used {
		ids[i] = key.ID
	}
	tracked, err := r.jobs.Tracked(ctx, ids)
	if err != nil {
		return err
	}
	for i := range used {
		key := &used[i]
		ended, err := r.jobs.ListEnded(ctx, tracked[key.ID])
		if err != nil {
			return err
		}
		account, err := r.bytes.Read(ctx, key.ID)
		if err != nil {
			return err
		}
		tokens, _, err := ai.KeyUsage(ctx, r.redis, key.ID, r.now)
		if err != nil {
			return err
		}
		key.Uses = []Use{
			{UseJobs, int64(len(tracked[key.ID]) - len(ended)), int64(key.Limits.Jobs)},
			{UseRows, rows[key.ID], int64(key.Limits.BatchItems)},
			{UseBytes, account.Used, cmp.Or(key.Limits.Bytes, account.Limit)},
			{UseTokens, tokens, key.Limits.AITokens},
		}
	}
	return nil
}

// timeOf returns a time that may be missing.
func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
