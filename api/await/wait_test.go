package await_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/apitest"
	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// TestAJobThatCannotBeReadIsAsItWas: the last look of a wait fails, and the job is still its caller's.
func TestAJobThatCannotBeReadIsAsItWas(t *testing.T) {
	t.Parallel()
	p := apitest.New(t, pace.Limits{})
	job, err := p.Tasks.Estimate(t.Context(), "https://cars.example/1", "", jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	p.Redis.AddHook(redistest.Hook(func(command redis.Cmder) error {
		if command.Name() == "hgetall" { // no record can be read
			return io.ErrUnexpectedEOF
		}
		return nil
	}))
	apitest.Send(t, func(_ http.ResponseWriter, r *http.Request) error {
		waited, err := p.Work.Wait(request.From(r), job, time.Millisecond)
		if err != nil || !tasks.IsFor(waited, "") || waited.State != job.State {
			t.Errorf("got %+v, %v, want the job as it was", waited, err)
		}
		return request.ErrUnavailable
	}, apitest.Ask{Method: "GET", URL: "/v1/jobs/" + job.ID})
}

// TestAJobThatEndedBeforeTheWaitIsFoundAtOnce: nobody hears of an end that was published before the
// wait listened for it.
func TestAJobThatEndedBeforeTheWaitIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	p := apitest.New(t, pace.Limits{})
	job, err := p.Tasks.Estimate(t.Context(), "https://cars.example/1", "", jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := jobs.NewStore(p.Redis).End(t.Context(), job, jobs.End{State: jobs.Cancelled}); err != nil {
		t.Fatal(err)
	}
	deaf := await.New(await.Options{ // its hub, which does not run, hears of no end
		Redis: p.Redis, Tasks: p.Tasks, Jobs: p.Jobs, Hub: jobs.NewHub(p.Jobs), Limits: p.Limits, Draining: t.Context(),
		Outages: tra.NewOutages(func(context.Context) (tra.Status, error) { return tra.Status{}, nil }),
	})
	apitest.Send(t, func(_ http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		waited, err := deaf.Wait(request.From(r.WithContext(ctx)), job, time.Hour) //nolint:contextcheck // the request has it
		if err != nil || waited.State != jobs.Cancelled {
			t.Errorf("got %+v, %v, want the job that has ended", waited, err)
		}
		return request.ErrUnavailable
	}, apitest.Ask{Method: "GET", URL: "/v1/jobs/" + job.ID})
}

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
