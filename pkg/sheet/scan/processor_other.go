//go:build !linux

package scan

import "time"

// threadTime returns how much time goes by, which is at least what a thread uses of the processor.
func threadTime() (used func() time.Duration) {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
