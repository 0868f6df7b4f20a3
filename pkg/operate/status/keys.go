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

// keysInUse is how many keys are looked at for what they use, those used last.
const keysInUse = 200

const (
	// batchesShown is how many batches are shown, and batchesOfKey those of one key that
	// are looked at.
	batchesShown = 20
	batchesOfKey = 5
	// reasonRows is how many failed rows of a batch are looked at.
	reasonRows = 50
)

// Key is an API key. Its limits are those that apply: its own, or else the defaults of the server.
type Key struct {
	keys.Key

	LastUsed *time.Time `json:"lastUsed"` // to the minute
	Today    int64      `json:"today"`    // requests on this day in Dar es Salaam
	// Own are the limits that an operator has given the key.
	Own pace.Limits `json:"own,omitzero"`
	// Uses are what the key uses now; nil for a key that was not used for a day.
	Uses []Use `json:"uses,omitempty"`
}

// What a key uses of its limits.
const (
	UseJobs   = "jobs"   // running ones, without those of batches
	useRows   = "rows"   // listings in running batches
	UseBytes  = "bytes"  // that are kept for it
	useTokens = "tokens" // of the AI, today
)

// Use is how much of a limit a key uses.
type Use struct {
	What  string `json:"what"`
	Used  int64  `json:"used"`
	Limit int64  `json:"limit"` // 0: none
}

// Percent returns the part of the limit that is used; 0 without a limit.
func (u Use) Percent() int { return Percent(u.Used, u.Limit) }

// Nearest returns the limit that is nearest; false without any.
func (k Key) Nearest() (nearest Use, ok bool) {
	for _, use := range k.Uses {
		if use.Limit > 0 && (!ok || use.Percent() > nearest.Percent()) {
			nearest, ok = use, true
		}
	}
	return nearest, ok
}

func (r *reading) keyPart(ctx context.Context) ([]Key, error) {
	all := make([]Key, 0, len(r.issued))
	for _, key := range r.issued {
		all = append(all, r.key(key))
	}
	slices.SortStableFunc(all, func(a, b Key) int {
		return cmp.Or(boolCompare(!a.Revoked.IsZero(), !b.Revoked.IsZero()), timeOf(b.LastUsed).Compare(timeOf(a.LastUsed)),
			b.Created.Compare(a.Created))
	})
	lately := r.now.Add(-24 * time.Hour)
	n := 0
	for n < min(len(all), keysInUse) && all[n].Revoked.IsZero() && timeOf(all[n].LastUsed).After(lately) {
		n++
	}
	return all, r.addUses(ctx, all[:n])
}

func (r *reading) key(key keys.Key) Key {
	shown := Key{Key: key, Today: r.usage[key.ID].Today, Own: key.Limits}
	shown.Limits = key.Limits.Or(r.options.Limits)
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
	for i := range used {
		key := &used[i]
		running, err := r.jobs.CountRunning(ctx, key.ID)
		if err != nil {
			return err
		}
		account, err := r.bytes.Read(ctx, pace.Holder{Whole: key.ID})
		if err != nil {
			return err
		}
		tokens, _, err := ai.KeyUsage(ctx, r.redis, key.ID, r.now)
		if err != nil {
			return err
		}
		key.Uses = []Use{
			{UseJobs, int64(running), int64(key.Limits.Jobs)},
			{useRows, rows[key.ID], int64(key.Limits.BatchItems)},
			{UseBytes, account.Used, cmp.Or(key.Limits.Bytes, account.Limit)},
			{useTokens, tokens, key.Limits.AITokens},
		}
	}
	return nil
}

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

// timeOf returns a time that may be missing.
func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
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
