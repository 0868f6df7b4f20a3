package service

import (
	"testing"
	"time"
)

// A batch may take hours: only a time that the caller gives ends the wait for it. One job has
// ten minutes.
func TestOnlyABatchIsAwaitedWithoutEnd(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]struct {
		bounded bool
		job     time.Duration
	}{0: {false, 10 * time.Minute}, 5 * time.Second: {true, 5 * time.Second}} {
		c := API{Timeout: given}
		ctx, cancel := c.forBatch(t.Context())
		_, bounded := ctx.Deadline()
		cancel()
		if bounded != want.bounded || c.jobTimeout() != want.job {
			t.Errorf("--timeout %v: got a bound of a batch %v and %v for a job, want %v and %v", given, bounded, c.jobTimeout(), want.bounded, want.job)
		}
	}
}
