package testenv

import (
	"testing"
	"time"
)

const (
	awaitInterval = 2 * time.Millisecond
	awaitLimit    = time.Minute
)

// Await calls check every 2 ms until it reports true, and fails the test after a minute
// with what it waited for and what check saw last.
func Await(t testing.TB, what string, check func() (saw any, is bool)) {
	t.Helper()
	for end := time.Now().Add(awaitLimit); ; time.Sleep(awaitInterval) {
		saw, is := check()
		if is {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s; last saw %v", awaitLimit, what, saw)
		}
	}
}

// AwaitTrue waits as Await does, for a condition that has nothing to show.
func AwaitTrue(t testing.TB, what string, is func() bool) {
	t.Helper()
	Await(t, what, func() (any, bool) { is := is(); return is, is })
}
