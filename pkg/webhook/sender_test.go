package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/fetch"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

// received is one request that a receiver got.
type received struct {
	id, at, signature, body string
}

// receiver answers with the statuses in turn, then always with the last one.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	got      []received
	statuses []int
	header   http.Header
}

func receive(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{
			q.Header.Get(webhook.HeaderID), q.Header.Get(webhook.HeaderTimestamp), q.Header.Get(webhook.HeaderSignature), string(body),
		})
		maps.Copy(w.Header(), r.header)
		status := r.statuses[0]
		if len(r.statuses) > 1 {
			r.statuses = r.statuses[1:]
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

const owner = "key1"

func embedded(t *testing.T) redis.UniversalClient {
	t.Helper()
	conn := redistest.Embedded(t)
	return conn.Client()
}

// stage is a store, a sender and one endpoint.
type stage struct {
	client   redis.UniversalClient
	store    *webhook.Store
	sender   *webhook.Sender
	endpoint webhook.Endpoint
	secret   string
}

func newStage(t *testing.T, client redis.UniversalClient, url string) stage {
	t.Helper()
	fetcher, err := fetch.New(fetch.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fetcher.Close)
	store := webhook.NewStore(client, nil)
	endpoint, secret, err := store.Add(t.Context(), owner, webhook.NewID(), url, []string{webhook.BatchCompleted})
	if err != nil {
		t.Fatal(err)
	}
	webhooktest.Verify(t, client, owner, endpoint.ID)
	s := stage{client, store, &webhook.Sender{
		Store: store, Post: fetcher.Post, Log: slog.New(slog.DiscardHandler),
		Schedule: []time.Duration{time.Nanosecond, time.Nanosecond},
	}, endpoint, secret}
	s.send(t) // of the challenge nothing is left
	return s
}

func (s stage) emit(t *testing.T, event, subject string) {
	t.Helper()
	if err := s.store.Emit(t.Context(), owner, event, subject, time.Now(), map[string]string{"id": subject}); err != nil {
		t.Fatal(err)
	}
}

// send sends until nothing is due.
func (s stage) send(t *testing.T) {
	t.Helper()
	webhooktest.Drain(t, s.client, s.sender)
}

func (s stage) deliveries(t *testing.T) []webhook.Delivery {
	t.Helper()
	deliveries, err := s.store.Deliveries(t.Context(), owner, s.endpoint.ID, 100)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(deliveries, func(d webhook.Delivery) bool { return d.Event == "webhook.verification" })
}

func TestAnEventIsDeliveredSignedAndOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, http.StatusNoContent)
		s := newStage(t, conn.Client(), to.URL)
		s.emit(t, webhook.BatchCompleted, "batch1")
		s.emit(t, webhook.BatchCompleted, "batch1") // emitted twice
		s.emit(t, webhook.JobCompleted, "job1")     // not subscribed to
		s.send(t)
		s.emit(t, webhook.BatchCompleted, "batch1") // and again, after it was delivered
		s.send(t)
		got := to.all()
		if len(got) != 1 {
			t.Fatalf("%d requests, want 1: %+v", len(got), got)
		}
		if err := webhooktest.CheckSignature(s.secret, got[0].id, got[0].at, got[0].signature, []byte(got[0].body), time.Now()); err != nil {
			t.Errorf("%v: %+v", err, got[0])
		}
		var message webhook.Message
		if err := json.Unmarshal([]byte(got[0].body), &message); err != nil || message.Type != webhook.BatchCompleted ||
			string(message.Data) != `{"id":"batch1"}` || message.Timestamp.IsZero() {
			t.Errorf("%v: %s", err, got[0].body)
		}
		if log := s.deliveries(t); len(log) != 1 || log[0].State != webhook.Delivered || log[0].Attempts[0].Status != http.StatusNoContent {
			t.Errorf("log %+v", log)
		}
	})
}

func TestAFailedAttemptIsRepeatedUnderTheSameID(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, http.StatusInternalServerError, http.StatusFound, http.StatusOK)
		s := newStage(t, conn.Client(), to.URL)
		s.emit(t, webhook.BatchCompleted, "batch1")
		s.send(t)
		got := to.all()
		if len(got) != 3 || got[0].id != got[1].id || got[1].id != got[2].id || got[0].body != got[2].body {
			t.Fatalf("requests %+v", got)
		}
		if log := s.deliveries(t); log[0].State != webhook.Delivered || len(log[0].Attempts) != 3 {
			t.Errorf("log %+v", log)
		}
	})
}

func TestAFailedDeliveryCanBeSentAgain(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, 500, 500, 500, http.StatusOK)
		s := newStage(t, conn.Client(), to.URL)
		s.emit(t, webhook.BatchCompleted, "batch1")
		s.send(t)
		log := s.deliveries(t)
		if log[0].State != webhook.Failed || len(to.all()) != 3 {
			t.Fatalf("%d requests; log %+v", len(to.all()), log)
		}
		if err := s.store.Redeliver(t.Context(), "another key", s.endpoint.ID, log[0].ID); err == nil {
			t.Error("another key may send it again")
		}
		if err := s.store.Redeliver(t.Context(), owner, s.endpoint.ID, log[0].ID); err != nil {
			t.Fatal(err)
		}
		s.send(t)
		if log := s.deliveries(t); log[0].State != webhook.Delivered {
			t.Errorf("log %+v", log)
		}
	})
}

func TestAReceiverThatIsGoneIsDisabled(t *testing.T) {
	t.Parallel()
	to := receive(t, http.StatusGone)
	s := newStage(t, embedded(t), to.URL)
	s.emit(t, webhook.BatchCompleted, "batch1")
	s.send(t)
	s.emit(t, webhook.BatchCompleted, "batch2")
	s.send(t)
	endpoint, err := s.store.Get(t.Context(), owner, s.endpoint.ID)
	if err != nil || endpoint.Disabled == "" || len(to.all()) != 1 {
		t.Errorf("%v, %+v after %d requests", err, endpoint, len(to.all()))
	}
	if _, err := s.store.Test(t.Context(), owner, s.endpoint.ID, "subject", time.Now()); !errors.Is(err, webhook.ErrDisabled) {
		t.Errorf("a test event: got %v, want ErrDisabled", err)
	}
	if err := s.store.Redeliver(t.Context(), owner, s.endpoint.ID, s.deliveries(t)[0].ID); !errors.Is(err, webhook.ErrDisabled) {
		t.Errorf("a redelivery: got %v, want ErrDisabled", err)
	}
	if err := s.store.Enable(t.Context(), owner, s.endpoint.ID); err != nil {
		t.Fatal(err)
	}
	if endpoint, err = s.store.Get(t.Context(), owner, s.endpoint.ID); err != nil || endpoint.Disabled != "" {
		t.Errorf("%v, %+v", err, endpoint)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	to := receive(t, http.StatusTooManyRequests)
	to.header = http.Header{"Retry-After": {"3600"}}
	s := newStage(t, embedded(t), to.URL)
	s.emit(t, webhook.BatchCompleted, "batch1")
	s.send(t)
	s.send(t)
	if log := s.deliveries(t); len(to.all()) != 1 || time.Until(log[0].Next) < 59*time.Minute {
		t.Errorf("%d requests, next at %s", len(to.all()), log[0].Next)
	}
}

func TestTheOldSecretStaysValidAfterARotation(t *testing.T) {
	t.Parallel()
	to := receive(t, http.StatusOK)
	s := newStage(t, embedded(t), to.URL)
	fresh := webhook.NewSecret()
	for range 2 { // a caller who got no response repeats the request
		if _, err := s.store.Rotate(t.Context(), owner, s.endpoint.ID, fresh); err != nil || fresh == s.secret {
			t.Fatal(err, fresh)
		}
	}
	s.emit(t, webhook.BatchCompleted, "batch1")
	s.send(t)
	got := to.all()[0]
	for _, secret := range []string{fresh, s.secret} {
		if err := webhooktest.CheckSignature(secret, got.id, got.at, got.signature, []byte(got.body), time.Now()); err != nil {
			t.Errorf("%v", err)
		}
	}
	if n := len(strings.Fields(got.signature)); n != 2 {
		t.Errorf("%d signatures: %s", n, got.signature)
	}
}

// A URL that resolves to a private address since it was registered gets nothing,
// and the list of deliveries does not show the address.
func TestPrivateAddressesGetNothing(t *testing.T) {
	t.Parallel()
	to := receive(t, http.StatusOK)
	s := newStage(t, embedded(t), to.URL)
	strict, err := fetch.New(fetch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(strict.Close)
	s.sender.Post = strict.Post
	s.emit(t, webhook.BatchCompleted, "batch1")
	s.send(t)
	log := s.deliveries(t)
	if len(to.all()) != 0 || len(log[0].Attempts) == 0 || strings.Contains(log[0].Attempts[0].Error, "127.0.0.1") {
		t.Errorf("%d requests; log %+v", len(to.all()), log)
	}
}

// A worker that stops while it sends says nothing about the receiver: the attempt
// is not recorded, costs no retry, and another worker makes it.
func TestAnInterruptedAttemptIsMadeAgain(t *testing.T) {
	t.Parallel()
	to := receive(t, http.StatusOK)
	s := newStage(t, embedded(t), to.URL)
	s.emit(t, webhook.BatchCompleted, "batch1")
	ctx, kill := context.WithCancel(t.Context())
	post := s.sender.Post
	s.sender.Post = dying{kill}.Post
	err := s.sender.ProcessTask(ctx, s.task(t))
	if !errors.Is(err, context.Canceled) || webhook.IsFailure(err) || webhook.RetryDelay(0, err, nil) > 5*time.Second {
		t.Fatalf("interrupted: %v", err)
	}
	if log := s.deliveries(t); log[0].State != webhook.Pending || log[0].Tries != 0 || len(log[0].Attempts) != 0 {
		t.Errorf("log %+v", log)
	}
	s.sender.Post = post
	s.send(t)
	if len(to.all()) != 1 || s.deliveries(t)[0].State != webhook.Delivered {
		t.Errorf("%d requests; log %+v", len(to.all()), s.deliveries(t))
	}
}

// A process recorded a delivery and died before it enqueued the task: the process
// that emits the event again enqueues it.
func TestALostTaskIsEnqueuedByTheNextEmit(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, http.StatusOK)
		s := newStage(t, conn.Client(), to.URL)
		s.emit(t, webhook.BatchCompleted, "batch1")
		inspector := asynq.NewInspectorFromRedisClient(s.client)
		for range 2 { // each time the task is lost
			if err := inspector.DeleteTask(webhook.Queue, s.deliveries(t)[0].ID); err != nil {
				t.Fatal(err)
			}
			s.emit(t, webhook.BatchCompleted, "batch1")
			s.emit(t, webhook.BatchCompleted, "batch1")
		}
		s.send(t)
		if len(to.all()) != 1 || s.deliveries(t)[0].State != webhook.Delivered {
			t.Errorf("%d requests; log %+v", len(to.all()), s.deliveries(t))
		}
	})
}

// A delivery that is sent again while an attempt is under way: the outcome of
// that attempt is not written over the new run, and its task does nothing more.
func TestRedeliverDuringAnAttempt(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, http.StatusOK)
		s := newStage(t, conn.Client(), to.URL)
		s.emit(t, webhook.BatchCompleted, "batch1")
		task, post := s.task(t), s.sender.Post
		s.sender.Post = during(post, func() {
			if err := s.store.Redeliver(t.Context(), owner, s.endpoint.ID, s.deliveries(t)[0].ID); err != nil {
				t.Error(err)
			}
		})
		if err := s.sender.ProcessTask(t.Context(), task); err == nil || webhook.IsFailure(err) {
			t.Errorf("an attempt that was overtaken ended with %v", err)
		}
		s.sender.Post = post
		s.send(t)
		if log := s.deliveries(t); len(to.all()) != 2 || log[0].State != webhook.Delivered || log[0].Tries != 1 {
			t.Errorf("%d requests; log %+v", len(to.all()), log)
		}
	})
}

// A receiver that does not answer occupies a slot for the time of one attempt only.
func TestAnAttemptIsBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t, embedded(t), "http://127.0.0.1:9/")
	s.emit(t, webhook.BatchCompleted, "batch1")
	var left time.Duration
	s.sender.Post = answering(func(ctx context.Context) (int, error) {
		end, bounded := ctx.Deadline()
		if left = time.Until(end); !bounded {
			left = time.Hour
		}
		return 0, context.DeadlineExceeded
	})
	err := s.sender.ProcessTask(t.Context(), s.task(t))
	if left > 15*time.Second || !webhook.IsFailure(err) {
		t.Errorf("an attempt may take %v; it ended with %v", left, err)
	}
}

// An operator runs a task from asynq's archive: it is one more attempt.
func TestAnArchivedTaskCanBeRun(t *testing.T) {
	t.Parallel()
	to := receive(t, 500, 500, 500, http.StatusOK)
	s := newStage(t, embedded(t), to.URL)
	s.emit(t, webhook.BatchCompleted, "batch1")
	s.send(t)
	inspector := asynq.NewInspectorFromRedisClient(s.client)
	archived, err := inspector.ListArchivedTasks(webhook.Queue)
	if err != nil || len(archived) != 1 || archived[0].ID != s.deliveries(t)[0].ID ||
		!strings.Contains(archived[0].LastErr, "Internal Server Error") || !strings.Contains(string(archived[0].Payload), webhook.BatchCompleted) {
		t.Fatalf("archived %+v, %v", archived, err)
	}
	if err := inspector.RunTask(webhook.Queue, archived[0].ID); err != nil {
		t.Fatal(err)
	}
	s.send(t)
	if log := s.deliveries(t); len(to.all()) != 4 || log[0].State != webhook.Delivered {
		t.Errorf("%d requests; log %+v", len(to.all()), log)
	}
}

// task returns the only task that is enqueued.
func (s stage) task(t *testing.T) *asynq.Task {
	t.Helper()
	pending, err := asynq.NewInspectorFromRedisClient(s.client).ListPendingTasks(webhook.Queue)
	if err != nil || len(pending) != 1 {
		t.Fatalf("pending %+v, %v", pending, err)
	}
	return asynq.NewTask(pending[0].Type, pending[0].Payload)
}

type poster = func(context.Context, string, http.Header, []byte) (int, http.Header, []byte, error)

// answering posts by a function that returns the status.
func answering(post func(ctx context.Context) (int, error)) poster {
	return func(ctx context.Context, _ string, _ http.Header, _ []byte) (int, http.Header, []byte, error) {
		status, err := post(ctx)
		return status, nil, nil, err
	}
}

// during calls do before it posts.
func during(post poster, do func()) poster {
	return func(ctx context.Context, url string, header http.Header, body []byte) (int, http.Header, []byte, error) {
		do()
		return post(ctx, url, header, body)
	}
}

// dying is killed while it posts.
type dying struct{ kill func() }

func (d dying) Post(ctx context.Context, _ string, _ http.Header, _ []byte) (int, http.Header, []byte, error) {
	d.kill()
	return 0, nil, nil, ctx.Err()
}

// The published vector of the specification's reference libraries.
const (
	vectorSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vectorID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorBody      = `{"test": 2432232314}`
	vectorSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var vectorTime = time.Unix(1614265330, 0)

func TestSignaturesAreThoseOfTheSpecification(t *testing.T) {
	got, err := webhook.Sign([]string{vectorSecret}, vectorID, vectorTime, []byte(vectorBody))
	if err != nil || got != vectorSignature {
		t.Errorf("%s, %v; want %s", got, err, vectorSignature)
	}
}

func TestVerifyRefusesWhatWasChanged(t *testing.T) {
	const other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	for name, c := range map[string]struct {
		secret, id, at, signature, body string
		now                             time.Time
		good                            bool
	}{
		"as it was sent":        {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime, true},
		"one of two signatures": {vectorSecret, vectorID, "1614265330", "v1,AAAA v2,x " + vectorSignature, vectorBody, vectorTime, true},
		"another secret":        {other, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime, false},
		"another id":            {vectorSecret, "msg_x", "1614265330", vectorSignature, vectorBody, vectorTime, false},
		"another body":          {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody + " ", vectorTime, false},
		"another time":          {vectorSecret, vectorID, "1614265331", vectorSignature, vectorBody, vectorTime, false},
		"long ago":              {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime.Add(6 * time.Minute), false},
		"from the future":       {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime.Add(-6 * time.Minute), false},
		"no signature":          {vectorSecret, vectorID, "1614265330", "", vectorBody, vectorTime, false},
		"no time":               {vectorSecret, vectorID, "", vectorSignature, vectorBody, vectorTime, false},
		"another version":       {vectorSecret, vectorID, "1614265330", "v2" + vectorSignature[2:], vectorBody, vectorTime, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := webhooktest.CheckSignature(c.secret, c.id, c.at, c.signature, []byte(c.body), c.now)
			if (err == nil) != c.good {
				t.Errorf("%v, want accepted %t", err, c.good)
			}
		})
	}
}
