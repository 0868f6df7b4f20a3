package bench

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"ushuru/pkg/redisx/redistest"
)

// The benchmark panicked when no single estimate was left to measure.
func TestBatchWithFewSingleEstimates(t *testing.T) {
	for _, interactive := range []int{0, 1} {
		var out bytes.Buffer
		numbers, err := Batch(t.Context(), &out, BatchOptions{
			Redis: redistest.Open(t, redistest.Start(t).URL), Log: slog.New(slog.DiscardHandler),
			Listings: 12, Window: 20, Interactive: interactive,
		})
		if err != nil || len(numbers) == 0 || !strings.Contains(out.String(), "succeeded:12") {
			t.Errorf("%d single estimates: %v, %s", interactive, err, out.String())
		}
	}
}
