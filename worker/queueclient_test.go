package worker

import (
	"testing"
	"testing/synctest"
	"time"
)

// An idle worker asks Redis once an interval; a message, and work within the last seconds, make
// it ask at once.
func TestHowOftenAnIdleWorkerAsksRedis(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Second
		c := newQueueClient(nil, "any", interval)
		<-time.After(time.Hour) // of the clock of the bubble
		asked := func(ask func() bool) (times int) {
			for range int(10 * interval / taskCheckInterval) {
				if ask() {
					times++
				}
				<-time.After(taskCheckInterval)
			}
			return times
		}
		delayed := func() bool { return c.forwards("retry") }
		if got := asked(c.looks); got != 10 {
			t.Errorf("idle for 10 s: got %d looks for a task, want 10", got)
		}
		if got := asked(delayed); got != 10 {
			t.Errorf("idle for 10 s: got %d looks for delayed tasks, want 10", got)
		}
		c.announce()
		if first, second := c.looks(), c.looks(); !first || second {
			t.Error("a message makes the next look go to Redis, and that alone")
		}
		if first, second := delayed(), delayed(); !first || !second {
			t.Error("delayed tasks are looked for at each question after a task")
		}
		<-time.After(2 * busyFor)
		if got := asked(delayed); got != 10 {
			t.Errorf("idle again: got %d looks for delayed tasks, want 10", got)
		}
	})
}
