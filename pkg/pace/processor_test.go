package pace_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

// compute has the owner compute for a time, and reports whether it was let.
func compute(t *testing.T, p *pace.Processor, owner string, took time.Duration) bool {
	t.Helper()
	turn := p.Turn(owner)
	err := turn.Begin(t.Context())
	if _, spent := errors.AsType[*pace.SpentError](err); spent {
		return false
	}
	if err != nil {
		t.Error(err)
		return false
	}
	testenv.Pass(took)
	turn.Give()
	return true
}

// TestWhoComputesAllDayGetsTheShare has one owner ask again and again for a minute: it gets
// half a processor, a network of visitors a fifth, beside what is there at the start.
func TestWhoComputesAllDayGetsTheShare(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]time.Duration{
		"key1": 20*time.Second + time.Minute/2, "anonymous@192.0.2.0": 2*time.Second + time.Minute/5,
	} {
		synctest.Test(t, func(t *testing.T) {
			p, begun, computed := pace.NewProcessor(2), time.Now(), time.Duration(0)
			for time.Since(begun) < time.Minute {
				if compute(t, p, owner, 30*time.Millisecond) {
					computed += 30 * time.Millisecond
					continue
				}
				account := p.Account(owner)
				if account.RetryAfter <= 0 || account.Remaining != 0 || account.Reset < account.RetryAfter {
					t.Fatalf("%s is refused with %+v", owner, account)
				}
				testenv.Pass(account.RetryAfter)
			}
			if off := (computed - want).Abs(); off > 200*time.Millisecond {
				t.Errorf("%s computed for %s of a minute, want %s", owner, computed, want)
			}
			if !compute(t, p, "key2", time.Millisecond) {
				t.Error("another owner is refused")
			}
			testenv.Pass(time.Minute)
			if got := p.Account(owner); got.Reset != 0 || !got.Allowed {
				t.Errorf("after a minute of rest: %+v", got)
			}
		})
	}
}

// TestAThousandComputationsAtOnce are of one owner: it never has two of two places, and
// exceeds its account by one computation, although all were sent before any was billed.
func TestAThousandComputationsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := pace.NewProcessor(2)
		var served, running, most atomic.Int64
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				turn := p.Turn("key1")
				if turn.Begin(t.Context()) != nil {
					return
				}
				for n := running.Add(1); n > most.Load(); {
					most.Store(n)
				}
				testenv.Pass(120 * time.Millisecond)
				running.Add(-1)
				served.Add(1)
				turn.Give()
			})
		}
		synctest.Wait()
		began := time.Now()
		if !compute(t, p, "key2", time.Millisecond) || time.Since(began) > time.Millisecond {
			t.Errorf("another owner waited for %s", time.Since(began))
		}
		all.Wait()
		// While 20 s are used, 10 s are there again, and so on: twice the 20 s.
		if n := served.Load(); n < 330 || n > 335 || most.Load() != 1 {
			t.Errorf("%d of 1000 were served, %d at once; want 334, 1", n, most.Load())
		}
	})
}

// TestRequestsThatComputeNothingCost: each at least what reading and answering takes.
func TestRequestsThatComputeNothingCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, admitted := pace.NewProcessor(2), 0
		for range 200_000 {
			if p.Admit("key1") == nil {
				admitted++
			}
		}
		spent, _ := errors.AsType[*pace.SpentError](p.Admit("key1"))
		if want := (pace.Policy{Name: "processor", Quota: 20_000, Window: 40 * time.Second}); admitted != 100_000 || spent == nil || spent.Policy != want {
			t.Errorf("%d requests at once are admitted, want 100000; then %+v", admitted, spent)
		}
	})
}

// TestPartsOfALongComputation are billed together, and none is refused.
func TestPartsOfALongComputation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := pace.NewProcessor(1)
		turn := p.Turn("key1")
		for range 48 {
			if err := errors.Join(turn.Take(t.Context()), turn.Take(t.Context())); err != nil { // it has the place
				t.Fatal(err)
			}
			testenv.Pass(time.Second)
			turn.Give()
			turn.Give()
		}
		if got := p.Account("key1"); got.Allowed || got.RetryAfter < 2*time.Second-time.Millisecond {
			t.Errorf("after 48 seconds: %+v", got)
		}
		var none *pace.Turn
		if err := none.Take(t.Context()); err != nil {
			t.Error(err)
		}
		none.Give()
	})
}

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
