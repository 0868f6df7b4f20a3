package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// The list of a key has what the key has requested, newest first, also what it shares; a
// page begins after the last one, and a state leaves out the others.
func TestListOfAKey(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store, check := jobs.NewStore(conn.Client()), must(t)
		request := func(owner, url string, listed bool) string {
			t.Helper()
			n := newJob(url)
			n.Owner, n.Listed, n.Query = owner, listed, "of="+owner
			job, _, err := store.Create(t.Context(), n, "scrape")
			check(err)
			return job.ID
		}
		ids := func(owner, before string, limit int, state jobs.State) (ids []string, more bool) {
			t.Helper()
			found, more, err := store.List(t.Context(), owner, before, limit, state)
			check(err)
			for _, job := range found {
				ids = append(ids, job.ID)
			}
			return ids, more
		}
		var mine []string
		for i := range 5 {
			mine = append(mine, request("lists", fmt.Sprint("https://cars.example/list", i), true))
		}
		shared := request("other", "https://cars.example/shared", true)
		request("lists", "https://cars.example/row", false)
		if joined := request("lists", "https://cars.example/shared", true); joined != shared {
			t.Fatalf("%s is not %s", joined, shared)
		}
		want := append(slices.Clone(mine), shared)
		slices.Sort(want) // two of one millisecond have any order
		slices.Reverse(want)
		if all, more := ids("lists", "", 100, ""); !slices.Equal(all, want) || more {
			t.Errorf("%q, want %q; more %v", all, want, more)
		}
		first, more := ids("lists", "", 4, "")
		if rest, last := ids("lists", first[3], 4, ""); !slices.Equal(slices.Concat(first, rest), want) || !more || last {
			t.Errorf("%q then %q, more %v %v", first, rest, more, last)
		}
		third, err := store.Get(t.Context(), mine[2])
		check(err)
		_, _, err = store.End(t.Context(), third, jobs.End{State: jobs.Failed, Error: &jobs.Error{}})
		check(err)
		if failed, _ := ids("lists", "", 100, jobs.Failed); !slices.Equal(failed, mine[2:3]) {
			t.Errorf("failed: %q", failed)
		}
		if _, more := ids("lists", "", 5, jobs.Queued); more {
			t.Error("more than the five that are queued")
		}
		for _, owner := range []string{"lists", "other"} {
			found, _, err := store.List(t.Context(), owner, "", 100, "")
			check(err)
			for _, job := range found {
				if job.Query != "of="+owner {
					t.Errorf("%s reads %s with %q, want its own query", owner, job.ID, job.Query)
				}
			}
		}
		for owner, is := range map[string]bool{"lists": true, "other": true, "third": false} {
			if listed, err := store.IsListed(t.Context(), owner, shared); err != nil || listed != is {
				t.Errorf("%s: %v, %v", owner, listed, err)
			}
		}
		for _, cursor := range []string{"x", "01JAB2C3D4E5F6G7H8J9K0M1N!"} {
			if _, _, err := store.List(t.Context(), "lists", cursor, 1, ""); !errors.Is(err, jobs.ErrBadCursor) {
				t.Errorf("%s: %v", cursor, err)
			}
		}
	})
}

// The list of a key is bounded, and expires.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	conn := redistest.Open(t, redistest.Start(t).URL)
	store, check := jobs.NewStore(conn.Client()), must(t)
	var last string
	for i := range 1010 {
		n := newJob(fmt.Sprint("https://cars.example/", i))
		n.Listed = true
		job, _, err := store.Create(t.Context(), n)
		check(err)
		last = max(last, job.ID)
	}
	keys, err := conn.Client().Keys(t.Context(), "jobs:of:*").Result()
	check(err)
	if len(keys) != 1 {
		t.Fatalf("%q", keys)
	}
	size, err := conn.Client().ZCard(t.Context(), keys[0]).Result()
	check(err)
	ttl, err := conn.Client().TTL(t.Context(), keys[0]).Result()
	check(err)
	if size != 1000 || ttl <= 0 {
		t.Errorf("%d entries for %v", size, ttl)
	}
	if newest, _, err := store.List(t.Context(), "key1", "", 1, ""); err != nil || newest[0].ID != last {
		t.Errorf("the newest is %v, not %s", newest, last)
	}
}

var key1 = pace.Holder{Whole: "key1"}

// Jobs are not counted down when they end: those that have ended are found when the limit
// is reached.
func TestRunningJobsOfAKeyAreLimited(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		reserve := func(what string, want bool) string {
			t.Helper()
			place, err := store.Reserve(t.Context(), key1, 2)
			if must(t)(err); (place != "") != want {
				t.Errorf("%s: got the place %q, want one: %t", what, place, want)
			}
			return place
		}
		start := func(url, place string) *jobs.Job {
			t.Helper()
			job := run(t, store, newJob(url))
			must(t)(store.Track(t.Context(), key1, place, job.ID))
			return job
		}
		first := start("https://a.example/running1", reserve("without a job", true))
		unused := reserve("with one", true)
		reserve("with one, and a place that is reserved", false)
		must(t)(store.Track(t.Context(), key1, unused, ""))
		start("https://a.example/running2", reserve("when the place was given back", true))
		reserve("with two", false)
		for owner, want := range map[string]int{"key1": 2, "key2": 0} {
			if got, err := store.CountRunning(t.Context(), owner); err != nil || got != want {
				t.Errorf("%s: got %d running jobs, %v, want %d", owner, got, err, want)
			}
		}
		_, _, err := store.End(t.Context(), first, jobs.End{State: jobs.Cancelled})
		must(t)(err)
		start("https://a.example/running3", reserve("when one has ended", true))
		reserve("with two again", false)
	})
}

// One visitor of a network leaves places to the others; a job of one that has ended is nobody's.
func TestAVisitorLeavesPlacesToOthersOfTheNetwork(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		visitor := func(part string) pace.Holder { return pace.Holder{Whole: "anonymous@192.0.2.0", Part: part} }
		var started []*jobs.Job
		fill := func(part string, want int) {
			t.Helper()
			got := 0
			for ; got <= 8; got++ {
				place, err := store.Reserve(t.Context(), visitor(part), 8)
				if must(t)(err); place == "" {
					break
				}
				job := run(t, store, newJob("https://a.example/"+part+strconv.Itoa(len(started))))
				started = append(started, job)
				must(t)(store.Track(t.Context(), visitor(part), place, job.ID))
			}
			if got != want {
				t.Errorf("%s: got %d more places, want %d", part, got, want)
			}
		}
		fill("a", 4)
		fill("b", 2)
		for _, job := range started[:3] {
			_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Cancelled})
			must(t)(err)
		}
		fill("c", 2)
		fill("a", 1)
	})
}

func TestAThousandAtOnceReserveNoPlaceTooMany(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		var got atomic.Int64
		// A place that nobody tracks counts for 15 s: only what is reserved within them is judged.
		counted, stop := context.WithTimeout(t.Context(), 14*time.Second)
		defer stop()
		var all sync.WaitGroup
		for range 10 { // at once, each by a connection: one that waits for a connection reserves nothing
			all.Go(func() {
				for range 100 {
					place, err := store.Reserve(counted, key1, 100)
					if counted.Err() != nil {
						return
					}
					if must(t)(err); place != "" {
						got.Add(1)
					}
				}
			})
		}
		if all.Wait(); got.Load() != 100 {
			t.Errorf("%d places, want 100", got.Load())
		}
	})
}
