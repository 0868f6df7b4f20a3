package fair_test

import (
	"testing"
	"time"

	"ushuru/pkg/fair"
)

// calls returns how many calls of an owner are allowed in ten seconds, at six a second.
func calls(rates *fair.Rates, owner string) (n int) {
	start := time.Unix(1000, 0)
	for at := start; at.Before(start.Add(10 * time.Second)); at = at.Add(10 * time.Millisecond) {
		if rates.Take(owner, 6, at) == 0 {
			n++
		}
	}
	return n
}

func TestKeyNeverHasTheWholeRate(t *testing.T) {
	t.Parallel()
	var rates fair.Rates
	if n := calls(&rates, "a"); n < 40 || n > 44 {
		t.Errorf("%d of 60 calls, want two thirds", n)
	}
	if n := calls(&rates, "b"); n < 40 || n > 44 {
		t.Errorf("another key has %d calls", n)
	}
	if n := calls(&rates, fair.Anonymous); n < 20 || n > 22 {
		t.Errorf("visitors have %d of 60 calls, want one third", n)
	}
	rates.SetPart(0.5)
	if n := calls(&rates, "c"); n < 20 || n > 24 {
		t.Errorf("%d of the 30 calls of this process, want two thirds", n)
	}
}
