package tra

import (
	"testing"
	"time"
)

func TestQuarterEnd(t *testing.T) {
	t.Parallel()
	for day, want := range map[string]string{
		"2025-11-15T12:00:00Z": "2026-01-01T00:00:00+03:00",
		"2025-12-31T20:59:59Z": "2026-01-01T00:00:00+03:00",
		"2025-12-31T21:00:00Z": "2026-04-01T00:00:00+03:00", // midnight in Dar es Salaam
		"2026-03-31T12:00:00Z": "2026-04-01T00:00:00+03:00",
		"2026-06-30T23:00:00Z": "2026-10-01T00:00:00+03:00",
		"2026-09-30T00:00:00Z": "2026-10-01T00:00:00+03:00",
	} {
		at, _ := time.Parse(time.RFC3339, day)
		if got := QuarterEnd(at).Format(time.RFC3339); got != want {
			t.Errorf("QuarterEnd(%s) = %s, want %s", day, got, want)
		}
	}
}
