package pace_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

func TestPlacesLeaveOneForAnother(t *testing.T) {
	t.Parallel()
	places := pace.NewPlaces(16)
	ctx, cancel := context.WithCancel(t.Context())
	var slow sync.WaitGroup
	for range 100 {
		slow.Go(func() {
			if release, err := places.Take(ctx, "attacker"); err == nil {
				<-ctx.Done()
				release()
				release() // a second call does nothing
			}
		})
	}
	testenv.AwaitTrue(t, "the others wait", func() bool { return places.Waiting("attacker") >= 89 })
	for range 100 {
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		release, err := places.Take(soon, "victim")
		stop()
		if err != nil {
			t.Fatal("another key waits for a place: ", err)
		}
		release()
	}
	cancel()
	slow.Wait()
	for range 11 { // all places are free again
		if _, err := places.Take(t.Context(), "key"); err != nil {
			t.Fatal(err)
		}
	}
	soon, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := places.Take(soon, "key"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a 12th place of 16: %v", err)
	}
}

// Owners take turns for a single place, however many places one of them waits for.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	places := pace.NewPlaces(1)
	release, err := places.Take(t.Context(), "attacker")
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu    sync.Mutex
		order string
		all   sync.WaitGroup
	)
	wait := func(owner string) {
		before := places.Waiting(owner)
		all.Go(func() {
			release, err := places.Take(t.Context(), owner)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order += owner[:1]
			mu.Unlock()
			release()
		})
		testenv.AwaitTrue(t, owner+" waits", func() bool { return places.Waiting(owner) > before })
	}
	for range 4 {
		wait("attacker")
	}
	wait("victim")
	wait("victim")
	release()
	all.Wait()
	if order != "vavaaa" {
		t.Errorf("served %s, want vavaaa", order)
	}
}

func TestCountsAreBoundedByOwner(t *testing.T) {
	t.Parallel()
	var counts pace.Counts
	a, b, all := pace.Bound{Owner: "a", Most: 2}, pace.Bound{Owner: "b", Most: 2}, pace.Bound{Owner: "", Most: 3}
	take := func(want bool, wanted ...pace.Bound) func() {
		t.Helper()
		release, ok := counts.Take(wanted...)
		if ok != want {
			t.Errorf("%v: taken %t, want %t", wanted, ok, want)
		}
		return release
	}
	first := take(true, a, all)
	take(true, a, all)
	take(false, a, all)
	take(true, b, all)
	take(false, b, all) // all have three
	if n := counts.All(); n != 3 {
		t.Errorf("%d are open, want 3", n)
	}
	first()
	first() // a second call does nothing
	if n := counts.All(); n != 2 {
		t.Errorf("%d are open, want 2", n)
	}
	take(true, a, all)
}

func TestAPlaceIsTriedWithoutWaiting(t *testing.T) {
	t.Parallel()
	places := pace.NewPlaces(3)
	release, ok := places.Try("a")
	if !ok {
		t.Fatal("the first place is not to be had")
	}
	if _, ok := places.Try("a"); !ok || places.Admits("a") || !places.Admits("b") {
		t.Errorf("the second of three: %t; a third of the same owner, or one of another: %t, %t", ok, places.Admits("a"), places.Admits("b"))
	}
	if _, ok := places.Try("a"); ok {
		t.Error("one owner has all places")
	}
	release()
	if !places.Admits("a") {
		t.Error("a place that was given back is not to be had")
	}
}

// TestAThousandAtOnceWaitInABoundedLine, while one of the owner has the place.
func TestAThousandAtOnceWaitInABoundedLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := pace.NewPlaces(1)
		release, err := places.Take(t.Context(), "key1")
		if err != nil {
			t.Fatal(err)
		}
		var served, refused atomic.Int64
		for range 1000 {
			go func() {
				release, err := places.TakeAmong(t.Context(), "key1", 20)
				switch {
				case err == nil:
					served.Add(1)
					release()
				case errors.Is(err, pace.ErrManyWait):
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		if n := places.Waiting("key1"); n != 20 || refused.Load() != 980 {
			t.Errorf("%d wait, %d are refused; want 20, 980", n, refused.Load())
		}
		release()
		synctest.Wait()
		if served.Load() != 20 {
			t.Errorf("%d are served, want 20", served.Load())
		}
	})
}
