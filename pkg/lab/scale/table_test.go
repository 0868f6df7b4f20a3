package scale

import (
	"strings"
	"testing"
	"time"

	"ushuru/pkg/lab/rig"
)

// A cost that grows with the rows is in the table of growth, and misses its aim.
func TestGrowthIsShown(t *testing.T) {
	t.Parallel()
	run := func(workers, rows int, each time.Duration, bytes int64) figures {
		total := time.Duration(int64(rows) * each.Nanoseconds())
		return figures{
			workers: workers, rows: rows, took: total, processor: total, redis: int64(rows) * bytes, reads: float64(rows) * 15,
			left: []rig.Keys{{Pattern: "job:*", Count: rows, Bytes: int64(rows) * bytes, Longest: 12 * time.Hour}},
		}
	}
	runs := []figures{
		run(1, 1000, time.Millisecond, 1000), run(2, 1000, time.Millisecond, 1000),
		run(1, 10_000, 2*time.Millisecond, 1000), run(2, 10_000, time.Millisecond, 1000), run(1, 100_000, 4*time.Millisecond, 1000),
	}
	var out strings.Builder
	if err := printed(&out, runs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 1 | 1000 → 10000 | 2.00 | 2.00 | 1.00 | 1.00 |", "| 1 | 10000 → 100000 | 2.00 | 2.00 | 1.00 | 1.00 |",
		"| 2 | 1000 → 10000 | 1.00 | 1.00 | 1.00 | 1.00 |", "| `job:*` | 1.000 | 1000 | 12.0 h |",
		"a thousand such rows a day hold 0.5 MB",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	all := numbers(runs)
	if len(all) != 3 || all[0].Ratio() != 4 || all[0].Verdict() != "**missed**" || all[1].Verdict() != "met" {
		t.Errorf("%+v", all)
	}
}
