package logs

import (
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
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

// Each calls do for each of some things, at most n at a time, and returns all errors. A panic is
// an error.
func Each[T any](things []T, n int, do func(T) error) error {
	errs := make([]error, len(things))
	var group errgroup.Group
	group.SetLimit(n)
	for i, thing := range things {
		group.Go(func() error {
			errs[i] = Guarded(func() error { return do(thing) })()
			return nil
		})
	}
	_ = group.Wait() // errs has all errors
	return errors.Join(errs...)
}
