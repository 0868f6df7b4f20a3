package logs

import (
	"fmt"
	"runtime/debug"
)

// Guarded returns f with a panic as its error, with the stack. A goroutine that reads what
// others have written runs in it: one record must not end the process.
func Guarded(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			}
		}()
		return f()
	}
}
