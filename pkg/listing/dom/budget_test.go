package dom

import (
	"context"
	"errors"
	"testing"
)

func TestABudgetEndsAReading(t *testing.T) {
	t.Parallel()
	spendAll := func(b *Budget) error {
		for range 10_000 {
			b.Spend(1)
		}
		return nil
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	failed := errors.New("failed")
	for name, c := range map[string]struct{ got, want error }{
		"enough steps": {Limit(t.Context(), 10_000, spendAll), nil},
		"too few":      {Limit(t.Context(), 9_999, spendAll), ErrTooManySteps},
		"cancelled":    {Limit(cancelled, 10_000, spendAll), context.Canceled},
		"its own":      {Limit(t.Context(), 1, func(*Budget) error { return failed }), failed},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
}
