package lab

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx/redistest"
)

// The benchmark panicked when no single estimate was left to measure.
func TestBatchWithFewSingleEstimates(t *testing.T) {
	for _, interactive := range []int{0, 1} {
		var out bytes.Buffer
		err := Batch(t.Context(), &out, BatchOptions{
			Redis: redistest.Open(t, redistest.Start(t).URL), Log: slog.New(slog.DiscardHandler),
			Listings: 12, Window: 20, Interactive: interactive,
		})
		if err != nil || !strings.Contains(out.String(), "succeeded:12") {
			t.Errorf("%d single estimates: %v, %s", interactive, err, out.String())
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		q    float64
		of   []time.Duration
		want time.Duration
	}{
		{0.95, nil, 0},
		{0.95, []time.Duration{time.Second}, time.Second},
		{0.5, []time.Duration{3 * time.Second, time.Second, 2 * time.Second}, 2 * time.Second},
		{1, []time.Duration{3 * time.Second, time.Second}, 3 * time.Second},
	} {
		if got := quantile(test.of, test.q); got != test.want {
			t.Errorf("quantile %v of %v: %v, want %v", test.q, test.of, got, test.want)
		}
	}
}
