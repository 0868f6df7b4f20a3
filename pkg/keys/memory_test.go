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

// second is the bound on the age of what a Memory remembers, and what a loaded
// machine may add to it.
const second = time.Second + 300*time.Millisecond

// refusedAfter returns how long after now a key is refused.
func refusedAfter(t *testing.T, memory *keys.Memory, plain string) time.Duration {
	t.Helper()
	start := time.Now()
	testenv.Await(t, "the key is refused", func() (any, bool) {
		_, err := memory.Verify(t.Context(), plain)
		if err != nil && !errors.Is(err, keys.ErrInvalid) {
			t.Fatal(err)
		}
		return err, err != nil
	})
	return time.Since(start)
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
	if took := refusedAfter(t, memory, plain); took > second {
		t.Errorf("refused after %s", took)
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
	if fastest > second/3 {
		t.Errorf("a change of limits took %s", fastest)
	}
	if err := store.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if took := refusedAfter(t, memory, plain); took > second {
		t.Errorf("refused after %s", took)
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
	testenv.AwaitFor(t, second, "the key is not valid", func() (any, bool) {
		_, err := memory.Verify(t.Context(), plain)
		return err, err != nil
	})
}
