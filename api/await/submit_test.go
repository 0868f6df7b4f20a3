package await_test

import (
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

// TestAJobThatIsNotMadeKeepsNoRoom: the record and the page that were counted for it are given back.
func TestAJobThatIsNotMadeKeepsNoRoom(t *testing.T) {
	t.Parallel()
	p := apitest.New(t, pace.Limits{})
	nobody := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = nobody.Close() })
	work := await.New(await.Options{
		Redis: p.Redis, Tasks: tasks.New(tasks.Options{Redis: nobody, Jobs: jobs.NewStore(nobody)}), Limits: p.Limits,
	})
	got := apitest.Send(t, func(w http.ResponseWriter, r *http.Request) error {
		_, err := work.Submit(w, request.From(r), jobs.Interactive, await.Wanted{
			Kind: tasks.KindEstimate, Attachment: []byte("page"),
			Input: tasks.EstimateInput{URL: "https://cars.example/1", Page: "hash"},
		})
		return err
	}, apitest.Ask{Method: "POST", URL: "/v1/estimate", Body: `{"url":"https://cars.example/1"}`})
	account, err := pace.NewAccounts(p.Redis, pace.KindBytes).Read(t.Context(), pace.Holder{Whole: "key"})
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Key-Bytes") == "" || err != nil || account.Used != 0 {
		t.Errorf("got %d %s, %+v, %v, want 503 and no bytes", got.Status, got.Body, account, err)
	}
}
