package await_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/apitest"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx/redistest"
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
