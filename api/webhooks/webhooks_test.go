package webhooks

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ushuru/api/apitest"
	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/pace"
	"ushuru/pkg/webhook"
)

// newResource returns the Resource of an API process.
func newResource(t *testing.T) (*Resource, *apitest.Parts) {
	t.Helper()
	p := apitest.New(t, pace.Limits{})
	return &Resource{Webhooks: p.Webhooks, Work: p.Work}, p
}

// create creates a webhook, and returns its id and its secret.
func create(t *testing.T, s *Resource) (id, secret string) {
	t.Helper()
	got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/webhooks", Body: `{"url":"https://receiver.example/","events":["job.completed"]}`})
	var made struct{ ID, Secret string }
	if got.Decode(t, &made); got.Status != http.StatusCreated || got.Header.Get("Location") != "/v1/webhooks/"+made.ID || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Fatalf("got %d %v %s", got.Status, got.Header, got.Body)
	}
	return made.ID, made.Secret
}

// one sends a request about a webhook.
func one(t *testing.T, s *Resource, do ofOne, method, id, below, key string) apitest.Answer {
	t.Helper()
	return apitest.Send(t, s.Of(do), apitest.Ask{Method: method, URL: "/v1/webhooks/" + id + below, Vars: map[string]string{"id": id, "delivery": "msg0"}, Key: key})
}

func TestAWebhookIsOfItsKeyAlone(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	id, _ := create(t, s)
	for _, c := range []struct {
		method, below string
		do            ofOne
	}{
		{http.MethodGet, "", s.Get},
		{http.MethodDelete, "", s.Remove},
		{http.MethodPost, "/rotate", s.Rotate},
		{http.MethodPost, "/enable", s.Enable},
		{http.MethodPost, "/test", s.Test},
		{http.MethodPost, "/verify", s.Verify},
		{http.MethodGet, "/deliveries", s.ListDeliveries},
		{http.MethodPost, "/deliveries/msg0/redeliver", s.Redeliver},
	} {
		if got := one(t, s, c.do, c.method, id, c.below, "other"); !got.Has(404, `"code":"webhook_not_found"`) {
			t.Errorf("%s %s: got %d %s", c.method, c.below, got.Status, got.Body)
		}
	}
	if got := apitest.Send(t, s.Patch, apitest.Ask{Method: http.MethodPatch, URL: "/v1/webhooks/" + id, Body: `{"url":"https://other.example/"}`, Vars: map[string]string{"id": id}, Key: "other"}); got.Status != 404 {
		t.Errorf("patch: got %d %s", got.Status, got.Body)
	}
	if got := apitest.Send(t, s.List, apitest.Ask{URL: "/v1/webhooks", Key: "other"}); !got.Has(200, `{"webhooks":[]}`) {
		t.Errorf("list: got %d %s", got.Status, got.Body)
	}
}

// TestOnlyTheResponseThatMakesASecretHasIt.
func TestOnlyTheResponseThatMakesASecretHasIt(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	id, secret := create(t, s)
	if got := one(t, s, s.Get, http.MethodGet, id, "", ""); !got.Has(200, `"id":"`+id+`"`, `"state":"pending"`) || strings.Contains(got.Body, "whsec_") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	rotated := one(t, s, s.Rotate, http.MethodPost, id, "/rotate", "")
	if !rotated.Has(200, `"secret":"whsec_`) || strings.Contains(rotated.Body, secret) {
		t.Errorf("a new secret: got %d %s", rotated.Status, rotated.Body)
	}
	rotate := await.WithIdempotencyKey(s.Of(s.Rotate))
	ask := apitest.Ask{Method: http.MethodPost, URL: "/v1/webhooks/" + id + "/rotate", Vars: map[string]string{"id": id}, Headers: map[string]string{"Idempotency-Key": "one"}}
	if first, again := apitest.Send(t, rotate, ask), apitest.Send(t, rotate, ask); first.Body != again.Body || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("under one key: got %s, then %s", first.Body, again.Body)
	}
}

func TestAWebhookIsChangedTestedAndRemoved(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	id, _ := create(t, s)
	patch := func(body string) apitest.Answer {
		return apitest.Send(t, s.Patch, apitest.Ask{Method: http.MethodPatch, URL: "/v1/webhooks/" + id, Body: body, Vars: map[string]string{"id": id}})
	}
	if got := patch(`{"url":"https://other.example/hook","colour":"red"}`); !got.Has(200, `"url":"https://other.example/hook"`, `"events":["job.completed"]`, `"field_ignored"`) {
		t.Errorf("another URL: got %d %s", got.Status, got.Body)
	}
	if got := patch(`{"events":["batch.completed","job.completed","batch.completed"]}`); !got.Has(200, `"events":["batch.completed","job.completed"]`) {
		t.Errorf("other events: got %d %s", got.Status, got.Body)
	}
	for body, code := range map[string]string{`{}`: "events_invalid", `{"url":""}`: "url_missing", `{"url":"http://x.example/"}`: "url_insecure", `{"events":[1]}`: "events_invalid", `{"url":7}`: "url_missing"} {
		if got := patch(body); !got.Has(400, `"code":"`+code+`"`) {
			t.Errorf("%s: got %d %s, want %s", body, got.Status, got.Body, code)
		}
	}
	tested := one(t, s, s.Test, http.MethodPost, id, "/test", "")
	if !tested.Has(202, `"event":"webhook.test"`) || strings.Contains(tested.Body, `"owner"`) {
		t.Errorf("a test: got %d %s", tested.Status, tested.Body)
	}
	if got := one(t, s, s.Verify, http.MethodPost, id, "/verify", ""); !got.Has(202, `"event":"webhook.verification"`) {
		t.Errorf("a verification: got %d %s", got.Status, got.Body)
	}
	if got := one(t, s, s.ListDeliveries, http.MethodGet, id, "/deliveries", ""); !got.Has(200, `"event":"webhook.test"`, `"event":"webhook.verification"`) {
		t.Errorf("the log: got %d %s", got.Status, got.Body)
	}
	first := one(t, s, s.ListDeliveries, http.MethodGet, id, "/deliveries?limit=1", "")
	link := strings.TrimSuffix(strings.TrimPrefix(first.Header.Get("Link"), "</v1/webhooks/"+id), `>; rel="next"`)
	if got := one(t, s, s.ListDeliveries, http.MethodGet, id, link, ""); !got.Has(200, `"deliveries":[{"id":"`) || got.Body == first.Body {
		t.Errorf("%s leads to %d %s", first.Header.Get("Link"), got.Status, got.Body)
	}
	for query, want := range map[string]string{"cursor=msg0": "page_invalid", "limit=0": "page_invalid"} {
		if got := one(t, s, s.ListDeliveries, http.MethodGet, id, "/deliveries?"+query, ""); !got.Has(400, want) {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, want)
		}
	}
	if got := one(t, s, s.Redeliver, http.MethodPost, id, "/deliveries/msg0/redeliver", ""); !got.Has(404, `"code":"webhook_not_found"`) {
		t.Errorf("an unknown delivery: got %d %s", got.Status, got.Body)
	}
	if got := one(t, s, s.Enable, http.MethodPost, id, "/enable", ""); !got.Has(200, `"id":"`+id) {
		t.Errorf("enabled: got %d %s", got.Status, got.Body)
	}
	if got := one(t, s, s.Remove, http.MethodDelete, id, "", ""); got.Status != http.StatusNoContent || got.Body != "" {
		t.Errorf("the end: got %d %s", got.Status, got.Body)
	}
	if got := one(t, s, s.Get, http.MethodGet, id, "", ""); got.Status != 404 {
		t.Errorf("after it: got %d %s", got.Status, got.Body)
	}
}

func TestWebhooksThatAreRefused(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	for body, code := range map[string]string{
		`{"url":"http://receiver.example/","events":["job.completed"]}`: "url_insecure", `{"url":"https://10.0.0.1/","events":["job.completed"]}`: "url_forbidden",
		`{"url":"receiver","events":["job.completed"]}`: "url_invalid", `{"events":["job.completed"]}`: "url_missing", `[]`: "url_missing",
		`{"url":"https://receiver.example/"}`: "events_invalid", `{"url":"https://receiver.example/","events":["webhook.test"]}`: "events_invalid",
		`{"url":"https://receiver.example/","events":[1]}`: "events_invalid", `{"url":"https://receiver.example/","events":"job.completed"}`: "events_invalid",
	} {
		if got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/webhooks", Body: body}); !got.Has(400, `"code":"`+code+`"`) {
			t.Errorf("%s: got %d %s, want %s", body, got.Status, got.Body, code)
		}
	}
	for range webhook.MaxEndpoints {
		create(t, s)
	}
	body := `{"url":"https://receiver.example/","events":["job.completed"]}`
	if got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/webhooks", Body: body}); !got.Has(409, `"code":"too_many_webhooks"`) {
		t.Errorf("one too many: got %d %s", got.Status, got.Body)
	}
	if all, err := p.Webhooks.List(t.Context(), "key"); err != nil || len(all) != webhook.MaxEndpoints {
		t.Errorf("%d are stored, %v", len(all), err)
	}
}

// TestAReceiverOnThisMachineMayBeInTheOpen, where that is allowed.
func TestAReceiverOnThisMachineMayBeInTheOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url      string
		loopback bool
		want     string
	}{
		{"https://RECEIVER.example", false, "https://receiver.example/"},
		{"http://127.0.0.1:80/a", true, "http://127.0.0.1/a"},
		{"http://localhost/a", true, "http://localhost/a"},
		{"http://127.0.0.1/", false, "url_forbidden"},
		{"http://receiver.example/", true, "url_insecure"},
		{"", true, "url_missing"},
	} {
		got, err := CheckURL(c.url, c.loopback)
		if p, refused := errors.AsType[*problem.Problem](err); refused && p.Code != c.want || !refused && strings.TrimSuffix(got, "/") != strings.TrimSuffix(c.want, "/") {
			t.Errorf("%s, loopback %v: got %s, %v, want %s", c.url, c.loopback, got, err, c.want)
		}
	}
	if events, err := checkEvents([]string{"job.completed", "batch.completed", "job.completed"}); err != nil || !slices.Equal(events, []string{"batch.completed", "job.completed"}) {
		t.Errorf("got %q, %v", events, err)
	}
}

// TestWhatCannotBeReadIsNotNotFound.
func TestWhatCannotBeReadIsNotNotFound(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	for _, c := range []struct {
		failure error
		want    int
	}{{io.ErrUnexpectedEOF, 503}, {webhook.ErrNotFound, 404}, {webhook.ErrDisabled, 409}, {webhook.ErrBadCursor, 400}} {
		do := func(context.Context, http.ResponseWriter, *request.Request) (int, any, error) {
			return 200, nil, c.failure
		}
		method, below := http.MethodGet, ""
		if c.want == http.StatusConflict { // of what sends something
			method, below = http.MethodPost, "/test"
		}
		if got := one(t, s, do, method, "id", below, ""); got.Status != c.want {
			t.Errorf("%v: got %d, want %d", c.failure, got.Status, c.want)
		}
	}
}
