package status

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
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

// timeOf returns a time that may be missing.
func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
