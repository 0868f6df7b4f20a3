package dom

import (
	"context"
	"errors"
	"strings"
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

func TestFormattingLeftOpenIsBoundedBeforeTheTreeIsBuilt(t *testing.T) {
	var markup strings.Builder
	markup.WriteString("<p>")
	for i := range 400 {
		markup.WriteString("<font size=" + strings.Repeat("1", i+1) + ">")
	}
	markup.WriteString(strings.Repeat("</p><p>x", 20_000))
	if err := CheckSize([]byte(markup.String())); err == nil {
		t.Error("eight million nodes let through")
	}
	balanced := strings.Repeat(`<p><b class="x">a</b><i class="y">b</i></p>`, 20_000)
	if err := CheckSize([]byte(balanced)); err != nil {
		t.Error("a long plain page is refused")
	}
}
