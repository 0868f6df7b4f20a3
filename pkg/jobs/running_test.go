package jobs_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

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
		var all sync.WaitGroup
		for range 10 { // at once, each by a connection: one that waits for a connection reserves nothing
			all.Go(func() {
				for range 100 {
					place, err := store.Reserve(t.Context(), key1, 100)
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
