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
	for name, c := range map[string]struct {
		ctx   context.Context
		steps int
		read  func(*Budget) error
		want  error
	}{
		"enough steps": {t.Context(), 10_000, spendAll, nil},
		"too few":      {t.Context(), 9_999, spendAll, ErrTooManySteps},
		"cancelled":    {cancelled, 10_000, spendAll, context.Canceled},
		"its own":      {t.Context(), 1, func(*Budget) error { return failed }, failed},
	} {
		if err := Limit(c.ctx, c.steps, c.read); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}
