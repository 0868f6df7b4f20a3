package naming

import (
	"strings"
	"testing"
)

func TestDistanceCountsTypingErrors(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"VELLFIRE", "VELLFIRE", 0},
		{"VELFIRE", "VELLFIRE", 1},
		{"APLHARD", "ALPHARD", 1},
		{"VITS", "VITZ", 1},
		{"", "AB", 2},
		{"ODSSEY", "ODYSSEY", 1},
		{"FORSTER", "FORESTER", 1},
		{"NOAH", "VOXY", 3},
		{"A", strings.Repeat("A", 20), MaxDistance},
		{strings.Repeat("A", 70), strings.Repeat("A", 70), MaxDistance},
		{"ABCDEFGHIJKL", "MNOPQRSTUVWX", MaxDistance},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if Distance(c.a, c.b) != Distance(c.b, c.a) {
			t.Errorf("Distance(%q, %q) is not symmetric", c.a, c.b)
		}
	}
}
