package dom

import (
	"context"
	"errors"
	"io"
)

// ErrTooManySteps is the error for a page that takes more steps to read than it may.
var ErrTooManySteps = errors.New("the page takes too many steps to read")

// Budget is what the reading of one page may still cost. A nil Budget has no limits.
type Budget struct {
	left    int
	check   int          // of left at which the time is looked at next
	stopped func() error // why the reading must end, nil while it need not
}

// checkEvery is after how many steps a Budget looks at the time: a step takes some
// microseconds at most.
const checkEvery = 256

// exceeded is what Spend panics with, and Limit recovers.
type exceeded struct{ cause error }

// Limit calls read with a budget of steps, and ends it when that is spent, with
// ErrTooManySteps, or when ctx is done, with the error of ctx.
func Limit(ctx context.Context, steps int, read func(*Budget) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			over, ok := p.(exceeded)
			if !ok {
				panic(p)
			}
			err = over.cause
		}
	}()
	return read(&Budget{left: steps, check: steps, stopped: ctx.Err})
}

// Spend uses some steps up. It does not return when the budget is spent: Limit does.
func (b *Budget) Spend(steps int) {
	if b == nil {
		return
	}
	if b.left -= steps; b.left < b.check {
		b.look()
	}
}

// look ends the reading when the budget is spent or its time is over.
func (b *Budget) look() {
	if b.left < 0 {
		panic(exceeded{ErrTooManySteps})
	}
	b.check = max(b.left-checkEvery, 0)
	b.Check()
}

// Check ends the reading when its time is over.
func (b *Budget) Check() {
	if b == nil {
		return
	}
	if err := b.stopped(); err != nil {
		panic(exceeded{err})
	}
}

// reader reads the bytes of a page within a budget.
type reader struct {
	budget *Budget
	from   io.Reader
}

// Reader returns a reader that ends with an error when the time of the budget is over.
func (b *Budget) Reader(from io.Reader) io.Reader { return reader{b, from} }

func (r reader) Read(p []byte) (int, error) {
	if r.budget != nil && r.budget.stopped() != nil {
		return 0, r.budget.stopped()
	}
	return r.from.Read(p)
}
