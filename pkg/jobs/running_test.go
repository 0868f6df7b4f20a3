package jobs_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// Jobs are not counted down when they end: those that have ended are found when the limit
// is reached.
func TestRunningJobsOfAKeyAreLimited(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		reserve := func(what string, want bool) string {
			t.Helper()
			place, err := store.Reserve(t.Context(), "key1", 2)
			if must(t)(err); (place != "") != want {
				t.Errorf("%s: got the place %q, want one: %t", what, place, want)
			}
			return place
		}
		start := func(url, place string) *jobs.Job {
			t.Helper()
			job := run(t, store, newJob(url))
			must(t)(store.Track(t.Context(), "key1", place, job.ID))
			return job
		}
		first := start("https://a.example/running1", reserve("without a job", true))
		unused := reserve("with one", true)
		reserve("with one, and a place that is reserved", false)
		must(t)(store.Track(t.Context(), "key1", unused, ""))
		start("https://a.example/running2", reserve("when the place was given back", true))
		reserve("with two", false)
		if got, err := store.Tracked(t.Context(), []string{"key1", "key2"}); err != nil || len(got["key1"]) != 2 || len(got["key2"]) != 0 {
			t.Errorf("tracked %v, %v", got, err)
		}
		_, _, err := store.End(t.Context(), first, jobs.End{State: jobs.Cancelled})
		must(t)(err)
		start("https://a.example/running3", reserve("when one has ended", true))
		reserve("with two again", false)
	})
}

// A place whose holder was killed is free again after a while, and not before.
func TestAReservedPlaceFallsBack(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		killed, err := store.Reserve(t.Context(), "key1", 1)
		must(t)(err)
		must(t)(conn.Client().ZIncrBy(t.Context(), "open:{key1}", -14_000, killed).Err()) // so long ago, in ms
		if place, err := store.Reserve(t.Context(), "key1", 1); err != nil || place != "" {
			t.Errorf("after 14 s: got %q, %v; want no place", place, err)
		}
		must(t)(conn.Client().ZIncrBy(t.Context(), "open:{key1}", -2_000, killed).Err())
		if place, err := store.Reserve(t.Context(), "key1", 1); err != nil || place == "" {
			t.Errorf("after 16 s: got %q, %v; want a place", place, err)
		}
	})
}

func TestAThousandAtOnceReserveNoPlaceTooMany(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		var got atomic.Int64
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				place, err := store.Reserve(t.Context(), "key1", 100)
				if must(t)(err); place != "" {
					got.Add(1)
				}
			})
		}
		if all.Wait(); got.Load() != 100 {
			t.Errorf("%d places, want 100", got.Load())
		}
	})
}
