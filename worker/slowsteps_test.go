package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// Slow steps of a batch leave places to those of another key, and fast ones and those
// of people are not bounded.
func TestSlowStepsOfAKeyLeavePlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := newSlowSteps(16)
		var running, postponed, ended atomic.Int64
		step := func(takes time.Duration) stepFunc {
			return func(ctx context.Context, job *jobs.Job) (any, error) {
				return "done", slow.run(ctx, job, func(ctx context.Context) error {
					running.Add(1)
					defer running.Add(-1)
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(takes):
						return nil
					}
				})
			}
		}
		var all sync.WaitGroup
		run := func(owner string, class jobs.Class, takes time.Duration) {
			all.Go(func() {
				output, err := step(takes)(t.Context(), &jobs.Job{Owner: owner, Class: class})
				var snooze *tasks.SnoozeError
				switch {
				case errors.As(err, &snooze):
					postponed.Add(1)
				case err == nil && output == "done":
					ended.Add(1)
				default:
					t.Error(output, err)
				}
			})
		}
		want := func(what string, wantRunning, wantPostponed int64) {
			t.Helper()
			synctest.Wait()
			if running.Load() != wantRunning || postponed.Load() != wantPostponed {
				t.Errorf("%s: %d run and %d were postponed, want %d and %d", what, running.Load(), postponed.Load(), wantRunning, wantPostponed)
			}
		}
		// The clock is that of the bubble, which jumps; all goroutines have then done their part.
		aWhile := func() { time.Sleep(slow.after) }
		for range 16 {
			run("attacker", jobs.Bulk, 30*time.Second)
		}
		want("at first", 16, 0)
		aWhile()
		want("after a while", 11, 5)
		for range 5 {
			run("attacker", jobs.Bulk, 30*time.Second)
		}
		want("more of the same key", 11, 10)
		run("victim", jobs.Bulk, 30*time.Second)
		run("attacker", jobs.Interactive, time.Second)
		aWhile()
		want("another key, and a person", 12, 10)
		all.Wait()
		if ended.Load() != 13 {
			t.Errorf("%d ended, want 13", ended.Load())
		}
		var releases []func()
		for n := range 11 {
			release, ok := slow.places.Try("attacker")
			if !ok {
				t.Fatalf("%d places are free again, want 11", n)
			}
			releases = append(releases, release)
		}
		for _, release := range releases {
			release()
		}
		run("attacker", jobs.Bulk, time.Second)
		all.Wait()
		if ended.Load() != 14 {
			t.Error("a fast step was postponed")
		}
	})
}
