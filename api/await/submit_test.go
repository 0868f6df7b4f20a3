package await_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/api/apitest"
	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/tasks"
)

// deaf is a client that does not get the answers of pipelines.
type deaf struct{}

func (deaf) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (deaf) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (deaf) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		return cmp.Or(next(ctx, commands), io.ErrUnexpectedEOF)
	}
}

// TestAJobThatIsNotMadeKeepsNoRoom: the record and the page that were counted for it are given back,
// unless Redis has the job and only its answer was lost.
func TestAJobThatIsNotMadeKeepsNoRoom(t *testing.T) {
	t.Parallel()
	nobody := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = nobody.Close() })
	p := apitest.New(t, pace.Limits{})
	if used := submitted(t, p, nobody); used != 0 {
		t.Errorf("no job: got %d bytes, want none", used)
	}
	embedded, ok := p.Redis.(*redis.Client)
	if !ok {
		t.Fatalf("got a client of the type %T", p.Redis)
	}
	lost := redis.NewClient(embedded.Options())
	t.Cleanup(func() { _ = lost.Close() })
	lost.AddHook(deaf{})
	if used := submitted(t, p, lost); used < jobs.RecordBytes {
		t.Errorf("a job whose answer was lost: got %d bytes, want its record", used)
	}
}

// submitted has a job submitted through a client that does not tell, and returns what its key keeps.
func submitted(t *testing.T, p *apitest.Parts, through *redis.Client) int64 {
	t.Helper()
	work := await.New(await.Options{
		Redis: p.Redis, Jobs: jobs.NewStore(p.Redis), Limits: p.Limits,
		Tasks: tasks.New(tasks.Options{Redis: through, Jobs: jobs.NewStore(through)}),
	})
	got := apitest.Send(t, func(w http.ResponseWriter, r *http.Request) error {
		_, err := work.Submit(w, request.From(r), jobs.Interactive, await.Wanted{
			Kind: tasks.KindEstimate, Attachment: []byte("page"),
			Input: tasks.EstimateInput{URL: "https://cars.example/1", Page: "hash"},
		})
		return err
	}, apitest.Ask{Method: "POST", URL: "/v1/estimate", Body: `{"url":"https://cars.example/1"}`})
	account, err := pace.NewAccounts(p.Redis, pace.KindBytes).Read(t.Context(), pace.Holder{Whole: "key"})
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Key-Bytes") == "" || err != nil {
		t.Fatalf("got %d %s, %+v, %v, want 503", got.Status, got.Body, account, err)
	}
	return account.Used
}

// TestARefusedJobKeepsNoPlace: a job that its bytes refuse leaves its place among the running jobs
// to the next one.
func TestARefusedJobKeepsNoPlace(t *testing.T) {
	t.Parallel()
	p := apitest.New(t, pace.Limits{Jobs: 1, Bytes: 2 * jobs.RecordBytes})
	for _, c := range []struct {
		page, status int
	}{{2 * jobs.RecordBytes, http.StatusRequestEntityTooLarge}, {1, http.StatusServiceUnavailable}, {1, http.StatusTooManyRequests}} {
		got := apitest.Send(t, func(w http.ResponseWriter, r *http.Request) error {
			_, err := p.Work.Submit(w, request.From(r), jobs.Interactive, await.Wanted{
				Kind: tasks.KindEstimate, Attachment: make([]byte, c.page), Input: tasks.EstimateInput{URL: "https://cars.example/1", Page: "hash"},
			})
			return cmp.Or(err, error(request.ErrUnavailable)) // the job has its place
		}, apitest.Ask{Method: "POST", URL: "/v1/estimate", Body: "{}"})
		account, err := pace.NewAccounts(p.Redis, pace.KindBytes).Read(t.Context(), pace.Holder{Whole: "key"})
		if refused := c.status == http.StatusRequestEntityTooLarge; got.Status != c.status || err != nil || refused && account.Used != 0 {
			t.Errorf("a page of %d bytes: got %d %s, %+v, %v, want %d", c.page, got.Status, got.Body, account, err, c.status)
		}
	}
}
