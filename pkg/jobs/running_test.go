package jobs_test

import (
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
		want := func(what string, want bool) {
			t.Helper()
			got, err := store.HasCapacity(t.Context(), "key1", 2)
			if must(t)(err); got != want {
				t.Errorf("%s: capacity %t, want %t", what, got, want)
			}
		}
		start := func(url string) *jobs.Job {
			t.Helper()
			job := run(t, store, newJob(url))
			must(t)(store.Track(t.Context(), "key1", job.ID))
			return job
		}
		want("without a job", true)
		first := start("https://a.example/running1")
		want("with one", true)
		start("https://a.example/running2")
		want("with two", false)
		if got, err := store.Tracked(t.Context(), []string{"key1", "key2"}); err != nil || len(got["key1"]) != 2 || len(got["key2"]) != 0 {
			t.Errorf("tracked %v, %v", got, err)
		}
		_, _, err := store.End(t.Context(), first, jobs.End{State: jobs.Cancelled})
		must(t)(err)
		want("when one has ended", true)
		start("https://a.example/running3")
		want("with two again", false)
	})
}
