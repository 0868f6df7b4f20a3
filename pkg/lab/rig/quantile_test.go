package rig

import (
	"testing"
	"time"
)

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
		if got := Quantile(test.of, test.q); got != test.want {
			t.Errorf("quantile %v of %v: %v, want %v", test.q, test.of, got, test.want)
		}
	}
}
