package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
	"ushuru/tasks"
)

// received is a webhook that came in.
type received struct {
	header http.Header
	body   []byte
}

// receiver takes webhooks on this machine, and answers each with the status
// that comes next; the last goes on.
func receiver(t *testing.T, statuses ...int) (url string, got <-chan received) {
	t.Helper()
	came := make(chan received, 100)
	answers := make(chan int, len(statuses))
	for _, status := range statuses {
		answers <- status
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, challenged := webhooktest.Answer(w, r)
		if challenged {
			return
		}
		select {
		case status := <-answers:
			w.WriteHeader(status)
		default:
		}
		came <- received{r.Header, body}
	}))
	t.Cleanup(server.Close)
	return server.URL, came
}

// postInto sends a request to the API and decodes its answer.
func (s *stack) postInto(path, body string, into any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+path, strings.NewReader(body))
	must(s.t, err)
	r.Header.Set("X-Api-Key", s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Prefer", "respond-async")
	response, err := http.DefaultClient.Do(r)
	must(s.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	must(s.t, err)
	if response.StatusCode >= http.StatusBadRequest {
		s.t.Fatalf("%s: %s %s", path, response.Status, data)
	}
	must(s.t, json.Unmarshal(data, into))
}

// A receiver that fails at first, and a worker that is gone when it is time to
// try again: the event comes all the same, under its own id, signed.
func TestWebhookArrivesThoughReceiverAndWorkerFail(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	s := newStack(t, conn)
	url, got := receiver(t, http.StatusInternalServerError)
	var hook struct{ ID, Secret string }
	s.postInto("/v1/webhooks", `{"url":"`+url+`","events":["job.completed"]}`, &hook)

	stop := s.work(tasks.RoleAny, tasks.RoleAuthority)
	var job struct{ ID string }
	s.postInto("/v1/estimate", `{"url":"`+s.site+`/nissan/note/sm100006/id/9100006/"}`, &job)
	first := arrives(t, got)
	stop() // it knows that it is to try again, and never will
	s.work(tasks.RoleAny)
	second := arrives(t, got)

	if first.header.Get(webhook.HeaderID) != second.header.Get(webhook.HeaderID) || string(first.body) != string(second.body) {
		t.Errorf("%v %s\n%v %s", first.header, first.body, second.header, second.body)
	}
	h := second.header
	must(t, webhooktest.CheckSignature(hook.Secret, h.Get(webhook.HeaderID), h.Get(webhook.HeaderTimestamp), h.Get(webhook.HeaderSignature), second.body, time.Now()))
	var message struct {
		Type string `json:"type"`
		Data struct {
			ID       string `json:"id"`
			State    string `json:"state"`
			Location string `json:"location"`
		} `json:"data"`
	}
	must(t, json.Unmarshal(second.body, &message))
	if message.Type != webhook.JobCompleted || message.Data.ID != job.ID || message.Data.State != "succeeded" ||
		message.Data.Location != "/v1/jobs/"+job.ID {
		t.Errorf("%s", second.body)
	}
}

// A worker is killed while it delivers: another one sends the event again under
// the same id, after asynq's lease has ended.
func TestWebhookUnderWayInAKilledWorkerIsSentAgain(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t, redistest.AOF())
	s := newStack(t, redistest.Open(t, server.URL))
	came := make(chan received, 10)
	var requests atomic.Int64
	hangs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, challenged := webhooktest.Answer(w, r)
		if challenged {
			return
		}
		came <- received{r.Header, body}
		if requests.Add(1) == 1 {
			<-r.Context().Done() // the worker's end
		}
	}))
	t.Cleanup(hangs.Close)
	var hook struct{ ID, Secret string }
	s.postInto("/v1/webhooks", `{"url":"`+hangs.URL+`","events":["job.completed"]}`, &hook)
	worker := s.spawn(server.URL)
	s.submit(s.car(0))
	first := arrives(t, came)
	worker.Kill()
	const leases = "asynq:{" + webhook.Queue + "}:lease"
	held, err := s.conn.Client().ZRange(t.Context(), leases, 0, -1).Result()
	if err != nil || len(held) != 1 {
		t.Fatalf("leases %+v, %v", held, err)
	}
	// The test does not wait for the rest of the lease.
	must(t, s.conn.Client().ZAdd(t.Context(), leases, redis.Z{Score: 1, Member: held[0]}).Err())
	s.spawn(server.URL)
	again := arrives(t, came)
	h := again.header
	must(t, webhooktest.CheckSignature(hook.Secret, h.Get(webhook.HeaderID), h.Get(webhook.HeaderTimestamp), h.Get(webhook.HeaderSignature), again.body, time.Now()))
	if h.Get(webhook.HeaderID) != first.header.Get(webhook.HeaderID) || !bytes.Equal(again.body, first.body) {
		t.Errorf("%v %s\n%v %s", first.header, first.body, h, again.body)
	}
}

func arrives(t *testing.T, got <-chan received) received {
	t.Helper()
	select {
	case r := <-got:
		return r
	case <-time.After(45 * time.Second):
		t.Fatal("no webhook came")
	}
	return received{}
}
