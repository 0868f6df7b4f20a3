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
		waited := func(look bool) time.Duration {
			t.Helper()
			begun := time.Now()
			if got := c.awaitLook(); got != look {
				t.Errorf("got %t for whether Redis is asked, want %t", got, look)
			}
			return time.Since(begun)
		}
		delayed := func() (times int) {
			for range int(10 * interval / delayedCheckInterval) {
				if c.forwards("retry") {
					times++
				}
				<-time.After(delayedCheckInterval)
			}
			return times
		}
		if got := waited(true); got != 0 {
			t.Errorf("first question: got a wait of %s, want none", got)
		}
		for range 3 {
			if got := waited(true); got != interval {
				t.Errorf("idle: got a wait of %s, want %s", got, interval)
			}
		}
		if got := delayed(); got != 10 {
			t.Errorf("idle for 10 s: got %d looks for delayed tasks, want 10", got)
		}
		waited(true)
		time.AfterFunc(interval/4, c.announce)
		if got := waited(true); got != interval/4 {
			t.Errorf("after a message: got a wait of %s, want %s", got, interval/4)
		}
		if got := waited(true); got != interval {
			t.Errorf("after the look that a message caused: got a wait of %s, want %s", got, interval)
		}
		c.announce()
		if first, second := c.forwards("retry"), c.forwards("retry"); !first || !second {
			t.Error("delayed tasks are looked for at each question after a task")
		}
		<-time.After(2 * busyFor)
		if got := delayed(); got != 10 {
			t.Errorf("idle again: got %d looks for delayed tasks, want 10", got)
		}
		waited(true)
		waited(true)
		time.AfterFunc(interval/4, c.stop)
		if got := waited(false); got != interval/4 {
			t.Errorf("the worker stops: got a wait of %s, want %s", got, interval/4)
		}
	})
}
