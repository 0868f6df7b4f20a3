package tra

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	keyQuarantine = "tra:{catalogue}:quarantine" // hash: make name or allMakes → quarantined
	allMakes      = "*"                          // the list of makes; no make has this name

	// A list that changes by more than this share, and by more names than the
	// floors, is quarantined.
	quarantinePercent = 5
	makesFloor        = 1
	labelsFloor       = 3

	// A quarantined list is taken when quarantineSyncs syncs have seen the same, each
	// quarantineGap after the one before: an authority that lists nonsense for an hour
	// does not agree with itself later.
	quarantineSyncs = 3
	quarantineGap   = time.Hour
)

// quarantined is a list that was not taken into the catalogue.
type quarantined struct {
	Reason      string    `json:"reason"`
	Fingerprint string    `json:"fingerprint"`
	Syncs       int       `json:"syncs"` // that saw this list
	SeenAt      time.Time `json:"seenAt"`
}

// change compares two lists of names and says how they differ. It is "" for lists
// that differ by no more than is usual; a first list is always usual.
func change(before, after []string, floor int, noun string) string {
	if len(before) == 0 {
		return ""
	}
	removed, added := missingFrom(after, before), missingFrom(before, after)
	usual := max(floor, len(before)*quarantinePercent/100)
	if removed <= usual && added <= usual {
		return ""
	}
	return fmt.Sprintf("%d of %d %s are missing and %d are new", removed, len(before), noun, added)
}

// missingFrom counts the names that a list does not have.
func missingFrom(list, names []string) (missing int) {
	has := make(map[string]bool, len(list))
	for _, name := range list {
		has[name] = true
	}
	for _, name := range names {
		if !has[name] {
			missing++
		}
	}
	return missing
}

func fingerprint(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(list)), "\n")))
	return hex.EncodeToString(sum[:8])
}

// take reports whether a list is taken into the catalogue. reason is what is
// unusual about it; "" takes it. An unusual list is taken when an operator accepts
// it, or when enough syncs agree on it.
func (r *syncRun) take(ctx context.Context, name, reason string, list []string) (bool, error) {
	known, waits := r.quarantine[name]
	if reason == "" || r.options.Accept {
		if !waits {
			return true, nil
		}
		return true, r.store.releaseQuarantine(ctx, name)
	}
	now := r.store.options.Now()
	next := quarantined{Reason: reason, Fingerprint: fingerprint(list), Syncs: 1, SeenAt: now}
	if waits && known.Fingerprint == next.Fingerprint {
		next.Syncs, next.SeenAt = known.Syncs, known.SeenAt
		if now.Sub(known.SeenAt) >= quarantineGap {
			next.Syncs, next.SeenAt = known.Syncs+1, now
		}
	}
	if next.Syncs >= quarantineSyncs {
		return true, r.store.releaseQuarantine(ctx, name)
	}
	r.unusual = append(r.unusual, name+": "+reason)
	value, err := json.Marshal(next)
	if err == nil {
		err = r.store.redis.HSet(ctx, keyQuarantine, name, value).Err()
	}
	if err != nil {
		return false, fmt.Errorf("tra: quarantine %s: %w", name, err)
	}
	return false, nil
}

func (s *Store) releaseQuarantine(ctx context.Context, name string) error {
	return failed(s.redis.HDel(ctx, keyQuarantine, name).Err(), "release %s from quarantine", name)
}

// loadQuarantine reads what earlier syncs quarantined.
func (s *Store) loadQuarantine(ctx context.Context) (map[string]quarantined, error) {
	fields, err := s.redis.HGetAll(ctx, keyQuarantine).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: read quarantine: %w", err)
	}
	waiting := make(map[string]quarantined, len(fields))
	for name, field := range fields {
		var q quarantined
		if err := json.Unmarshal([]byte(field), &q); err != nil {
			return nil, fmt.Errorf("tra: quarantine of %s: %w", name, err)
		}
		waiting[name] = q
	}
	return waiting, nil
}
