package await_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/api/await"
	"ushuru/api/request"
)

// TestReplicasThatDoNotConfirmAreNotWaitedForLonger: the time is of the whole confirmation, whatever
// number of commands it takes.
func TestReplicasThatDoNotConfirmAreNotWaitedForLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work := await.New(await.Options{Confirm: func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Hour):
				return nil
			}
		}})
		begun := time.Now()
		err := work.Confirm(t.Context())
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != request.RedisTimeout {
			t.Errorf("got %v after %s, want the end of the time after %s", err, took, request.RedisTimeout)
		}
	})
}
