package batches

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/api/apitest"
	"ushuru/pkg/batch"
	"ushuru/pkg/pace"
)

// leaving is a client that goes away when the list of active batches is about to be written,
// which is in the middle of creating a batch and of retrying one.
type leaving struct {
	leave context.CancelFunc
	deaf  bool // the answers of scripts are lost
}

func (l *leaving) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l *leaving) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l *leaving) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if slices.Contains(command.Args(), any("batches:open")) && l.leave != nil {
			l.leave()
		}
		err := next(ctx, command)
		if l.deaf && err == nil && strings.HasPrefix(command.Name(), "eval") {
			command.SetErr(io.ErrUnexpectedEOF)
			return io.ErrUnexpectedEOF
		}
		return err
	}
}

// TestAClientThatLeavesKeepsNoRoom: what was counted for a batch that is not created, or for rows
// that are not retried, is given back; rows that wait keep their room.
func TestAClientThatLeavesKeepsNoRoom(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	embedded, ok := p.Redis.(*redis.Client)
	if !ok {
		t.Fatalf("got a client of the type %T", p.Redis)
	}
	client, hook := redis.NewClient(embedded.Options()), &leaving{}
	t.Cleanup(func() { _ = client.Close() })
	client.AddHook(hook)
	s.Batches = batch.NewStore(client)
	accounts := pace.NewAccounts(p.Redis, pace.KindBytes)
	account := func() pace.Account {
		t.Helper()
		got, err := accounts.Read(t.Context(), pace.Holder{Whole: "key"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	left := func(handler func(http.ResponseWriter, *http.Request) error, ask apitest.Ask) {
		t.Helper()
		before, gone := account(), false
		got := apitest.Send(t, func(w http.ResponseWriter, r *http.Request) error {
			ctx, cancel := context.WithCancel(r.Context())
			hook.leave = func() { gone = true; cancel() }
			defer func() { cancel(); hook.leave = nil }()
			return handler(w, r.WithContext(ctx))
		}, ask)
		if !gone || got.Status < http.StatusInternalServerError {
			t.Fatalf("%s: got %d %s, want the client to leave (%t) and nothing to be done", ask.URL, got.Status, got.Body, gone)
		}
		if after := account(); after.Used != before.Used || after.Promised != before.Promised {
			t.Errorf("%s: got %+v, want as before %+v", ask.URL, after, before)
		}
	}
	left(s.Post, apitest.Ask{URL: "/v1/batches", Body: three})

	id := create(t, s, three)
	retry := apitest.Ask{Method: "POST", URL: "/v1/batches/" + id + "/retry", Vars: of(id)}
	promised := account().Promised
	if got := apitest.Send(t, s.Retry, retry); !got.Has(409, `"code":"none_failed"`) || account().Promised != promised || promised == 0 {
		t.Errorf("nothing failed: got %d %s, %+v, want the promise of %d bytes", got.Status, got.Body, account(), promised)
	}
	finish(t, p, id)
	// As the workers do at the end.
	if err := accounts.Forget(t.Context(), pace.Holder{Whole: "key"}, batch.PromiseName(id)); err != nil {
		t.Fatal(err)
	}
	left(s.Retry, retry)

	// A batch that is there keeps its room, although the answer of Redis was lost.
	before := account()
	hook.deaf = true
	got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches", Body: three})
	if after := account(); got.Status != http.StatusServiceUnavailable || after.Promised <= before.Promised {
		t.Errorf("a batch whose answer was lost: got %d, %+v, want 503 and more than %+v", got.Status, after, before)
	}
	if got := apitest.Send(t, s.Retry, retry); got.Status != http.StatusServiceUnavailable {
		t.Errorf("a retry whose answer was lost: got %d %s, want 503", got.Status, got.Body)
	}
}
