package keys_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/keys"
	"ushuru/pkg/redisx/redistest"
)

var errKilled = errors.New("killed")

// killed lets so many commands through and then none: what a process leaves that is killed.
func killed(left int) redistest.Hook {
	return func(redis.Cmder) error {
		if left--; left < 0 {
			return errKilled
		}
		return nil
	}
}

// A rotation that is killed before any of its commands leaves the old key as it was, and
// the next rotation gives its owner the whole grace.
func TestAKilledRotationLeavesTheOldKey(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := redistest.Open(t, server.URL).Client()
	store := keys.NewStore(client)
	for _, grace := range []time.Duration{time.Hour, 0} {
		ended := false
		for n := 0; !ended; n++ {
			old, key := create(t, store, grace.String()+string(rune('a'+n)))
			dying := redistest.Open(t, server.URL).Client()
			dying.AddHook(killed(n))
			plain, _, err := keys.NewStore(dying).Rotate(t.Context(), key.ID, grace)
			if ended = err == nil; ended {
				if _, err := store.Verify(t.Context(), plain); err != nil || n < 5 {
					t.Errorf("%v: rotated after %d commands: %v", grace, n, err)
				}
				continue
			}
			if got, err := store.Verify(t.Context(), old); err != nil || !got.Expires.IsZero() {
				t.Errorf("%v: killed after %d commands: the old key is %+v, %v", grace, n, got, err)
			}
			plain, rotated, err := store.Rotate(t.Context(), key.ID, time.Hour)
			if err != nil || !rotated.Expires.IsZero() {
				t.Fatalf("%v: killed after %d commands: the next rotation is %+v, %v", grace, n, rotated, err)
			}
			for _, valid := range []string{old, plain} {
				if _, err := store.Verify(t.Context(), valid); err != nil {
					t.Errorf("%v: killed after %d commands: after the next rotation a key is not valid: %v", grace, n, err)
				}
			}
			if err := store.Revoke(t.Context(), key.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := client.Keys(t.Context(), "key:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	listed := client.HVals(t.Context(), "keys:index").Val()
	for _, record := range all {
		if !slices.Contains(listed, record[len("key:"):]) {
			t.Errorf("%s can be neither listed nor revoked", record)
		}
	}
}

// Of rotations at the same time at least one key is valid, and none stays valid that a
// revocation does not find.
func TestRotationsAtTheSameTime(t *testing.T) {
	t.Parallel()
	store := keys.NewStore(redistest.Open(t, redistest.Start(t).URL).Client())
	for round := range 20 {
		old, key := create(t, store, "race "+string(rune('a'+round)))
		plain := make([]string, 4)
		var race sync.WaitGroup
		for i := range plain {
			race.Go(func() {
				var err error
				plain[i], _, err = store.Rotate(t.Context(), key.ID, time.Hour)
				// The key that a slow one has read may have ended.
				if err != nil && !errors.Is(err, keys.ErrRotated) && !errors.Is(err, keys.ErrNotFound) {
					t.Error(err)
				}
			})
		}
		race.Wait()
		if !slices.ContainsFunc(plain, func(text string) bool {
			_, err := store.Verify(t.Context(), text)
			return err == nil
		}) {
			t.Error("no new key is valid")
		}
		if err := store.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		for _, text := range slices.Concat(plain, []string{old}) {
			if _, err := store.Verify(t.Context(), text); text != "" && !errors.Is(err, keys.ErrInvalid) {
				t.Errorf("a revoked key is valid: %v", err)
			}
		}
	}
}
