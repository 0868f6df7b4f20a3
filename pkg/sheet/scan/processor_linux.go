package scan

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns for how long the thread of the caller uses the processor from now on, for any
// goroutine to ask.
func threadTime() (used func() time.Duration) {
	// The clock of a thread, as pthread_getcpuclockid(3) makes it of a thread's number.
	const ofThread = 6
	clock := int32(^unix.Gettid())<<3 | ofThread //nolint:gosec // a number of a thread has 22 bits
	read := func() time.Duration {
		var now unix.Timespec
		_ = unix.ClockGettime(clock, &now) // fails only for a thread that has ended
		return time.Duration(now.Nano())
	}
	began := read()
	return func() time.Duration { return read() - began }
}
