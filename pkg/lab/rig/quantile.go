package rig

import (
	"slices"
	"time"
)

// Quantile returns the quantile q, from 0 to 1, of durations in any order; 0
// when there are none.
func Quantile(durations []time.Duration, q float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Microsecond)
}

// Median returns the middle of numbers in any order; 0 when there are none.
func Median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(numbers))[len(numbers)/2]
}
