package pace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

// computeInBatches has keys compute for batches, a page after the other in so many goroutines of
// each, until ctx ends. It returns how long each key has computed for.
func computeInBatches(ctx context.Context, t *testing.T, p *pace.Processor, page time.Duration, owners ...string) []time.Duration {
	t.Helper()
	const goroutines = 4
	computed, used := make([]time.Duration, len(owners)), make(chan int)
	for i, owner := range owners {
		for range goroutines {
			go func() {
				for {
					end, err := p.BeginBatch(pace.WithOwner(ctx, owner))
					if err == nil {
						testenv.Pass(page)
						end()
					}
					if ctx.Err() != nil { // what ends later is not counted
						used <- -1
						return
					}
					used <- i
				}
			}()
		}
	}
	for left := goroutines * len(owners); left > 0; {
		if i := <-used; i < 0 {
			left--
		} else {
			computed[i] += page
		}
	}
	return computed
}

// TestBatchesYieldToPeople counts for how long batches compute in ten seconds, on two processors.
func TestBatchesYieldToPeople(t *testing.T) {
	t.Parallel()
	const took = 10 * time.Second
	for name, test := range map[string]struct {
		owners []string
		page   time.Duration
		person time.Duration // how often a part of a person's work begins
		want   time.Duration // of each key
	}{
		"no person: a key has one processor":         {[]string{"key1"}, time.Millisecond, time.Hour, took},
		"no person: two keys have both processors":   {[]string{"key1", "key2"}, time.Millisecond, time.Hour, took},
		"a person always: a fifth":                   {[]string{"key1"}, time.Millisecond, time.Millisecond, took / 5},
		"a person always, and pages that take long":  {[]string{"key1"}, time.Second, time.Millisecond, took * 10 / 11},
		"a person begins once in 125 ms":             {[]string{"key1"}, time.Millisecond, 125 * time.Millisecond, took * 21 / 25},
		"a person always: two keys share two fifths": {[]string{"key1", "key2"}, time.Millisecond, time.Millisecond, took / 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := pace.NewProcessor(2)
				ctx, cancel := context.WithTimeout(t.Context(), took)
				defer cancel()
				go func() {
					for pace.Sleep(ctx, test.person) == nil {
						p.PersonGoesOn()
					}
				}()
				for i, got := range computeInBatches(ctx, t, p, test.page, test.owners...) {
					if off := (got - test.want).Abs(); off > took/20+test.page {
						t.Errorf("%s computed for %s, want %s", test.owners[i], got, test.want)
					}
				}
			})
		})
	}
}
