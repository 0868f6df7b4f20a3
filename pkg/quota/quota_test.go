package quota_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ushuru/pkg/quota"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func ExampleLimits_Or() {
	server := quota.Limits{PerMinute: 300, Jobs: 100}
	fmt.Printf("%+v\n", quota.Limits{Jobs: 2}.Or(server))
	// Output: {PerMinute:300 Jobs:2 BatchItems:0 Bytes:0 AITokens:0}
}

func TestLimiterOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		limiter := quota.NewLimiter(conn.Client())
		for i := range 3 {
			got, err := limiter.Allow(t.Context(), "key1", 2)
			if err != nil || got.Allowed != (i < 2) || got.Limit != 2 || (got.RetryAfter > 0) == got.Allowed {
				t.Errorf("request %d: %+v, %v", i, got, err)
			}
		}
		if got, err := limiter.Allow(t.Context(), "key1", 5); err != nil || got.Remaining != 4 {
			t.Errorf("another limit: %+v, %v", got, err)
		}

		var over []string // jobs that have ended
		calls := 0
		ended := func(_ context.Context, jobs []string) ([]string, error) {
			calls++
			return slices.DeleteFunc(slices.Clone(jobs), func(job string) bool { return !slices.Contains(over, job) }), nil
		}
		for i, want := range []struct {
			over  string
			has   bool
			calls int
		}{{"", true, 0}, {"", true, 0}, {"", false, 1}, {"job0", true, 2}} {
			over = append(over, want.over)
			has, err := limiter.HasCapacity(t.Context(), "key1", 2, ended)
			if err != nil || has != want.has || calls != want.calls {
				t.Errorf("job %d: %v, %v; %d calls", i, has, err, calls)
			}
			if !has {
				continue
			}
			if err := limiter.Track(t.Context(), "key1", fmt.Sprint("job", i)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
