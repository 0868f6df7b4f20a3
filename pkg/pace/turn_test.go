package pace_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pace"
)

func turns(t *testing.T) (*pace.Turns, *miniredis.Miniredis) {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return pace.NewTurns(client), server
}

func offer(t *testing.T, turns *pace.Turns, worker string, places int) []string {
	t.Helper()
	ready, err := turns.Offer(t.Context(), "any", worker, places, pace.OfferInterval)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

func enter(t *testing.T, turns *pace.Turns, owner, task string) bool {
	t.Helper()
	entered, err := turns.Enter(t.Context(), "any", owner, task, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return entered
}

func leave(t *testing.T, turns *pace.Turns, owner, task string) []string {
	t.Helper()
	ready, err := turns.Leave(t.Context(), "any", owner, task)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// enterAll enters n tasks of an owner and returns how many have a place.
func enterAll(t *testing.T, turns *pace.Turns, owner string, n int) (places int) {
	t.Helper()
	for i := range n {
		if enter(t, turns, owner, fmt.Sprintf("%s%d", owner, i)) {
			places++
		}
	}
	return places
}

func TestKeyNeverHasAllPlaces(t *testing.T) {
	t.Parallel()
	for total, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 3, 8: 6, 16: 11, 32: 22} {
		turns, _ := turns(t)
		offer(t, turns, "w1", total)
		if got := enterAll(t, turns, "a", 100); got != want {
			t.Errorf("one key has %d of %d places, want %d", got, total, want)
		}
		if total > 1 && !enter(t, turns, "b", "b0") {
			t.Errorf("%d places: none is left for another key", total)
		}
	}
}

// The visitors of a network have its places together, and wait for them in turns, whoever of them
// sends how much; another network does not wait for them.
func TestVisitorsOfANetworkTakeTurns(t *testing.T) {
	t.Parallel()
	turns, _ := turns(t)
	offer(t, turns, "w1", 9)
	network := pace.Caller(pace.Anonymous, "192.0.2.0")
	greedy, person := pace.PartOf(network, "greedy"), pace.PartOf(network, "person")
	if got := enterAll(t, turns, greedy, 20); got != 3 {
		t.Fatalf("a network has %d of 9 places, want 3", got)
	}
	if enter(t, turns, person, "p1") || enter(t, turns, person, "p2") {
		t.Error("a second visitor has places beyond those of the network")
	}
	if !enter(t, turns, pace.Caller(pace.Anonymous, "198.51.100.0"), "other") {
		t.Error("another network waits")
	}
	var order []string
	for i := range 4 {
		order = append(order, leave(t, turns, greedy, fmt.Sprintf("%s%d", greedy, i))...)
	}
	if got := slices.Index(order, "p2"); got < 0 || got > 3 {
		t.Errorf("got the order %q, want both tasks of the person within four", order)
	}
}

func TestManyKeysLeaveAPlace(t *testing.T) {
	t.Parallel()
	turns, _ := turns(t)
	offer(t, turns, "w1", 8)
	offer(t, turns, "w2", 8)
	for i := range 2 {
		enterAll(t, turns, fmt.Sprintf("key%d-", i), 100)
	}
	if !enter(t, turns, "victim", "v0") {
		t.Error("two keys with 100 tasks each leave no place of 16")
	}
}

func TestAnonymousVisitorsGetLess(t *testing.T) {
	t.Parallel()
	turns, _ := turns(t)
	offer(t, turns, "w1", 16)
	if got := enterAll(t, turns, pace.Caller(pace.Anonymous, "192.0.2.0"), 100); got != 6 {
		t.Errorf("visitors of one network have %d of 16 places, want 6", got)
	}
	if got := enterAll(t, turns, "key", 100); got != 7 {
		t.Errorf("a key beside them has %d, want 7", got)
	}
	if got := enterAll(t, turns, pace.Anonymous, 100); got != 1 {
		t.Errorf("other visitors have %d of the last 3, want 1", got)
	}
}

func TestWhoWaitsIsServedInTurn(t *testing.T) {
	t.Parallel()
	turns, server := turns(t)
	offer(t, turns, "w1", 3)
	enterAll(t, turns, "a", 4) // two have places
	enterAll(t, turns, "b", 3) // one has the last place
	var order []string
	running := []string{"a0", "a1", "b0"}
	for len(running) > 0 {
		done := running[0]
		ready := leave(t, turns, done[:1], done)
		running = append(running[1:], ready...)
		order = append(order, ready...)
		server.FastForward(time.Second)
	}
	if want := []string{"a2", "b1", "a3", "b2"}; !slices.Equal(order, want) {
		t.Errorf("served %v, want %v", order, want)
	}
	if !slices.Equal(leave(t, turns, "a", "a9"), nil) {
		t.Error("more was served than waits")
	}
}

func TestPlaceOfDeadWorkerExpires(t *testing.T) {
	t.Parallel()
	turns, server := turns(t)
	now := time.Now()
	server.SetTime(now)
	offer(t, turns, "w1", 2)
	enterAll(t, turns, "a", 2)
	server.SetTime(now.Add(2 * time.Minute))
	if ready := offer(t, turns, "w1", 2); !slices.Equal(ready, []string{"a1"}) {
		t.Errorf("%v is served after the lease, want a1", ready)
	}
}

func TestTaskHasOnePlace(t *testing.T) {
	t.Parallel()
	turns, _ := turns(t)
	offer(t, turns, "w1", 3)
	for range 5 {
		if !enter(t, turns, "a", "a0") {
			t.Fatal("a task lost its place")
		}
	}
	if got := enterAll(t, turns, "a", 3); got != 2 {
		t.Errorf("%d places, want 2", got)
	}
	leave(t, turns, "a", "a0")
	leave(t, turns, "a", "a0")
	if !enter(t, turns, "b", "b0") || enter(t, turns, "b", "b1") {
		t.Error("a place was given back twice")
	}
}

// Without a worker nothing is known of the places, and the queue takes all tasks.
// When the only worker is away for a while, its places still count.
func TestPlacesOfAnAbsentWorkerCount(t *testing.T) {
	t.Parallel()
	turns, server := turns(t)
	now := time.Now()
	server.SetTime(now)
	if got := enterAll(t, turns, "early", 20); got != 20 {
		t.Errorf("%d places before any worker", got)
	}
	offer(t, turns, "w1", 4)
	server.SetTime(now.Add(2 * time.Minute))
	if got := enterAll(t, turns, "a", 20); got != 3 {
		t.Errorf("%d of 4 places of a worker that is away", got)
	}
}

// The places of workers that are there add up; those of one that is away do not count.
func TestPlacesOfWorkersAddUp(t *testing.T) {
	t.Parallel()
	turns, server := turns(t)
	now := time.Now()
	server.SetTime(now)
	offer(t, turns, "gone", 40)
	server.SetTime(now.Add(2 * time.Minute))
	offer(t, turns, "w1", 4)
	offer(t, turns, "w2", 4)
	if got := enterAll(t, turns, "a", 20); got != 6 {
		t.Errorf("%d places of two workers with 4 each, want 6", got)
	}
}

// A task waits for two owners, and runs when the first may have a place.
func TestTaskOfTwoOwners(t *testing.T) {
	t.Parallel()
	turns, _ := turns(t)
	offer(t, turns, "w1", 4)
	enterAll(t, turns, "a", 10)
	if !enter(t, turns, "b", "a9") {
		t.Fatal("the task waits, though another key asks for it too")
	}
	if !enter(t, turns, "a", "a9") {
		t.Error("it has no place by its first owner")
	}
	if ready := leave(t, turns, "a", "a0"); len(ready) != 0 {
		t.Errorf("%v run; no place was free for the key", ready)
	}
}
