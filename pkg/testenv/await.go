package testenv

import (
	"testing"
	"time"
)

const (
	// The first intervals are short; what takes longer is not asked so often that it
	// takes longer still.
	awaitInterval, maxInterval = 2 * time.Millisecond, 20 * time.Millisecond
	awaitLimit                 = time.Minute
)

// Await calls check every few milliseconds until it reports true, and fails the test after a minute
// with what it waited for and what check saw last.
func Await(t testing.TB, what string, check func() (saw any, is bool)) {
	t.Helper()
	AwaitFor(t, awaitLimit, what, check)
}

// AwaitFor waits as Await does, for another time than a minute.
func AwaitFor(t testing.TB, limit time.Duration, what string, check func() (saw any, is bool)) {
	t.Helper()
	interval := awaitInterval
	for end := time.Now().Add(limit); ; time.Sleep(interval) {
		interval = min(interval+interval/4, maxInterval)
		saw, is := check()
		if is {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s; last saw %v", limit, what, saw)
		}
	}
}

// AwaitTrue waits as Await does, for a condition that has nothing to show.
func AwaitTrue(t testing.TB, what string, is func() bool) {
	t.Helper()
	Await(t, what, func() (any, bool) { is := is(); return is, is })
}

// Pass moves the clock of a bubble of testing/synctest. Outside of one a test waits for a condition,
// with Await, and not for a time.
func Pass(d time.Duration) { time.Sleep(d) }
