package pace_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/pace"
)

var (
	errAway = errors.New("away")
	errGone = errors.New("gone")
)

func ExampleRetry() {
	attempts := 0
	err := pace.Retry(context.Background(), pace.Backoff{InitialDelay: time.Millisecond, MaxAttempts: 5}, func() error {
		if attempts++; attempts < 3 {
			return errAway
		}
		return nil
	})
	fmt.Println(attempts, err)
	// Output: 3 <nil>
}

func TestRetryStops(t *testing.T) {
	isGone := func(err error) bool { return errors.Is(err, errGone) }
	for name, test := range map[string]struct {
		policy   pace.Backoff
		errs     []error // of the first calls; then the last of them
		attempts int
		from, to time.Duration
	}{
		"on success":            {pace.Backoff{InitialDelay: time.Second}, []error{errAway, nil}, 2, time.Second, 1250 * time.Millisecond},
		"on a permanent error":  {pace.Backoff{InitialDelay: time.Second, IsPermanent: isGone}, []error{errAway, errGone}, 2, time.Second, 1250 * time.Millisecond},
		"after MaxAttempts":     {pace.Backoff{InitialDelay: time.Second, MaxAttempts: 4}, []error{errAway}, 4, 7 * time.Second, 9 * time.Second},
		"after one attempt":     {pace.Backoff{InitialDelay: time.Second, MaxAttempts: 1}, []error{errAway}, 1, 0, 0},
		"after Timeout":         {pace.Backoff{InitialDelay: time.Second, Timeout: 6 * time.Second}, []error{errAway}, 3, 3 * time.Second, 4 * time.Second},
		"when the context ends": {pace.Backoff{InitialDelay: time.Second}, []error{errAway}, 6, time.Minute, time.Minute},
		"after the delay that was asked for": {
			pace.Backoff{
				InitialDelay: time.Second, MaxDelay: 20 * time.Second, MaxAttempts: 2,
				RetryAfter: func(error) time.Duration { return time.Hour },
			}, []error{errAway}, 2, 20 * time.Second, 25 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start, attempts := time.Now(), 0
				last := test.errs[len(test.errs)-1]
				err := pace.Retry(ctx, test.policy, func() error {
					attempts++
					return test.errs[min(attempts, len(test.errs))-1]
				})
				if !errors.Is(err, last) || last == nil && err != nil {
					t.Errorf("returned %v, want %v", err, last)
				}
				took := time.Since(start)
				if attempts != test.attempts || took < test.from || took > test.to {
					t.Errorf("%d attempts in %v", attempts, took)
				}
			})
		})
	}
}

func TestDoCallsOnceWhenTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	attempts := 0
	err := pace.Retry(ctx, pace.Backoff{}, func() error {
		attempts++
		return errAway
	})
	if attempts != 1 || !errors.Is(err, errAway) {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestTheDelayThatAServerAsksFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 26, 9, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-5": 0, "soon": 0, "NaN": 0, "86400": time.Hour, "1e300": time.Hour,
		"Thu, 26 Nov 2026 09:00:30 GMT": 30 * time.Second, "Thu, 26 Nov 2026 08:00:00 GMT": 0, "Fri, 27 Nov 2026 09:00:00 GMT": time.Hour,
	} {
		if got := pace.RetryAfter(http.Header{"Retry-After": {value}}, now, time.Hour); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}
