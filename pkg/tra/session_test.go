package tra_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/tra"
)

// The race detector finds a list whose write begins while a tax waits for other lists.
func TestATaxIsWrittenAfterTheListsBeforeIt(t *testing.T) {
	ctx, finish := tra.Begin(t.Context(), tra.SessionOptions{})
	var callers sync.WaitGroup
	var lists, taxes atomic.Int64
	for range 8 {
		callers.Go(func() {
			for range 100 {
				var listed atomic.Bool
				list := tra.WriteList(ctx, func() error {
					time.Sleep(10 * time.Microsecond)
					listed.Store(true)
					lists.Add(1)
					return nil
				})
				tax := tra.WriteTax(ctx, func() error {
					if !listed.Load() {
						t.Error("the tax is written before its list")
					}
					taxes.Add(1)
					return nil
				})
				if err := errors.Join(list, tax); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if err := finish(); err != nil || lists.Load() != 800 || taxes.Load() != 800 {
		t.Errorf("%d lists and %d taxes are written: %v", lists.Load(), taxes.Load(), err)
	}
	late := false
	if err := tra.WriteTax(ctx, func() error { late = true; return nil }); err != nil || !late {
		t.Errorf("a write after the end is made at once: %v, %v", late, err)
	}
}
