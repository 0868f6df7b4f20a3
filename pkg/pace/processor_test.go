package pace_test

import (
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
