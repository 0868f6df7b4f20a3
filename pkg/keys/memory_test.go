package keys_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

// acceptedFor returns how long after now the last check began that accepts a key, and the error of
// the first that does not: a loaded machine makes checks late, which lengthens nothing.
func acceptedFor(t *testing.T, memory *keys.Memory, plain string) (longest time.Duration, err error) {
	t.Helper()
	start := time.Now()
	testenv.Await(t, "the key is refused", func() (any, bool) {
		began := time.Since(start)
		if _, err = memory.Verify(t.Context(), plain); err == nil {
			longest = began
		}
		return err, err != nil
	})
	return longest, err
}

func TestMemoryReadsABusyKeyOnce(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	memory := keys.NewMemory(store)
	plain, created := create(t, store, "busy")
	before, start := server.CommandCount(), time.Now()
	for range 1000 {
		if key, err := memory.Verify(t.Context(), plain); err != nil || key != created {
			t.Fatalf("Verify = %+v, %v", key, err)
		}
	}
	if n, most := server.CommandCount()-before, 1+int(time.Since(start)/time.Second); n > most {
		t.Errorf("%d commands for 1000 requests in %s", n, time.Since(start))
	}
}

// TestRevocationHoldsWithinASecondWithoutMessage: nothing listens, as when every
// message is lost.
func TestRevocationHoldsWithinASecondWithoutMessage(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	memory := keys.NewMemory(store)
	plain, key := create(t, store, "leaked")
	if _, err := memory.Verify(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	if err := store.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if took, err := acceptedFor(t, memory, plain); took > time.Second || !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("accepted for %s, then %v", took, err)
	}
}

func TestRevocationIsPublished(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	store := keys.NewStore(rdb)
	memory := keys.NewMemory(store)
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { memory.Run(ctx) })
	t.Cleanup(func() {
		stop()
		listening.Wait()
	})
	testenv.AwaitTrue(t, "the memory listens", func() bool { return len(server.PubSubChannels("")) > 0 })
	plain, key := create(t, store, "leaked")
	fastest := time.Minute
	for round := range 3 { // on a loaded machine a message may take its time
		if _, err := memory.Verify(t.Context(), plain); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		limits := pace.Limits{PerMinute: round + 1}
		if err := store.Limit(t.Context(), key.ID, limits); err != nil {
			t.Fatal(err)
		}
		testenv.Await(t, "the limits", func() (any, bool) {
			changed, err := memory.Verify(t.Context(), plain)
			if err != nil {
				t.Fatal(err)
			}
			return changed.Limits, changed.Limits == limits
		})
		fastest = min(fastest, time.Since(start))
	}
	if fastest > time.Second/2 {
		t.Errorf("a change of limits took %s", fastest)
	}
	if err := store.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if took, err := acceptedFor(t, memory, plain); took > time.Second || !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("accepted for %s, then %v", took, err)
	}
}

func TestMemoryRemembersNothingInvalid(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	other, _ := newStore(t)
	memory := keys.NewMemory(store)
	unknown, _ := create(t, other, "of another Redis")
	for _, plain := range []string{"", "ush_123", unknown} {
		if _, err := memory.Verify(t.Context(), plain); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("Verify(%q) = %v", plain, err)
		}
	}
	server.Close()
	if _, err := memory.Verify(t.Context(), unknown); err == nil || errors.Is(err, keys.ErrInvalid) {
		t.Errorf("without Redis: %v", err)
	}
}

// TestRedisThatIsAwayExtendsNothing: a remembered key is not valid for longer
// because it cannot be read again.
func TestRedisThatIsAwayExtendsNothing(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	memory := keys.NewMemory(store)
	plain, _ := create(t, store, "name")
	if _, err := memory.Verify(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if took, _ := acceptedFor(t, memory, plain); took > time.Second {
		t.Errorf("accepted for %s", took)
	}
}
