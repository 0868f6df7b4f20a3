package scan

import (
	"context"
	"runtime"
	"time"
)

// withProcessor returns a context that ends, for the cause of errTooLong, when the calling goroutine has
// used the processor for longer than most. A machine that is slow because others work on it
// has so long a file none the less. The goroutine stays on its thread until stop.
func withProcessor(parent context.Context, most time.Duration) (ctx context.Context, stop func()) {
	runtime.LockOSThread()
	used := threadTime()
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		// A thread uses no more processor than time goes by: the next look need not be earlier.
		for left := most - used(); ; left = most - used() {
			if left <= 0 {
				cancel(errTooLong)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(left, time.Millisecond)):
			}
		}
	}()
	return ctx, func() { cancel(nil); runtime.UnlockOSThread() }
}
