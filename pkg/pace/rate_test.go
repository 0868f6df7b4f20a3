package pace_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func ExampleLimits_Or() {
	server := pace.Limits{PerMinute: 300, Jobs: 100}
	fmt.Printf("%+v\n", pace.Limits{Jobs: 2}.Or(server))
	// Output: {PerMinute:300 Jobs:2 BatchItems:0 Bytes:0 AITokens:0}
}

// takeRate takes one of each limit.
func takeRate(t *testing.T, rates *pace.Rates, limits ...pace.Limit) pace.Allowance {
	t.Helper()
	got, err := rates.Take(t.Context(), limits...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRatesOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		rates := pace.NewRates(conn.Client())
		for i := range 3 {
			got := takeRate(t, rates, pace.PerMinute("key1", 2))
			if got.Allowed != (i < 2) || got.Remaining != max(1-i, 0) || (got.RetryAfter > 0) == got.Allowed {
				t.Errorf("request %d: %+v", i, got)
			}
			if want := time.Duration(min(i+1, 2)) * 30 * time.Second; got.Reset > want || got.Reset < want-10*time.Second {
				t.Errorf("request %d: all is left after %v, want %v", i, got.Reset, want)
			}
		}
		if got := takeRate(t, rates, pace.PerMinute("key1", 5)); got.Remaining != 4 {
			t.Errorf("another limit: %+v", got)
		}
	})
}

func TestARefusedLimitCountsAgainstNoOther(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		rates := pace.NewRates(conn.Client())
		all, own := pace.Limit{Key: "{site}", Rate: 0.001, Burst: 4}, pace.Limit{Key: "{site}:a", Rate: 0.0005, Burst: 2}
		for i := range 5 {
			got := takeRate(t, rates, all, own)
			if got.Allowed != (i < 2) {
				t.Errorf("a, call %d: %+v", i, got)
			}
			if !got.Allowed && got.RetryAfter < time.Second {
				t.Errorf("a may come again after %v, want that of its own limit", got.RetryAfter)
			}
		}
		for i := range 3 {
			if got := takeRate(t, rates, all, pace.Limit{Key: "{site}:b", Rate: 0.001, Burst: 9}); got.Allowed != (i < 2) {
				t.Errorf("b, call %d: %+v", i, got)
			}
		}
	})
}

// However many processes ask at once, no more is allowed than the limit.
func TestTheRateIsCountedOnce(t *testing.T) {
	t.Parallel()
	rates := pace.NewRates(redistest.Embedded(t).Client())
	var allowed atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got, err := rates.Take(t.Context(), pace.Limit{Key: "x", Rate: 0.001, Burst: 7}); err != nil {
				t.Error(err)
			} else if got.Allowed {
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	if n := allowed.Load(); n != 7 {
		t.Errorf("%d are allowed, want 7", n)
	}
}

func TestTheRateComesBack(t *testing.T) {
	t.Parallel()
	rates := pace.NewRates(redistest.Embedded(t).Client())
	limit := pace.Limit{Key: "x", Rate: 1, Burst: 1}
	if got := takeRate(t, rates, limit); !got.Allowed {
		t.Fatalf("%+v", got)
	}
	if got := takeRate(t, rates, limit); got.Allowed || got.RetryAfter > time.Second {
		t.Fatalf("the second: %+v", got)
	}
	testenv.AwaitTrue(t, "one more", func() bool { return takeRate(t, rates, limit).Allowed })
}

func TestAKeyNeverHasTheWholeRate(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]float64{"a": 4, pace.Anonymous: 2} {
		if got := pace.Share(owner, 6); got != want {
			t.Errorf("%s has %v of 6 calls a second, want %v", owner, got, want)
		}
	}
}
