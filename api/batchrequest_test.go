package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

var csvBody = map[string]string{"Content-Type": "text/csv; charset=UTF-8"}

var batchRequestScenarios = []scenario{
	{
		name: "addresses", url: "/v1/batches", body: `{"urls":["https://cars.example/1","https://cars.example/2","https://cars.example/1?utm_source=x"]}`,
		status: 201, has: []string{`"rows":3,"repeated":1,"counts":{"cancelled":0,"failed":0,"rejected":0,"running":0,"succeeded":0,"waiting":3},"options":{}`},
	},
	{name: "a table", url: "/v1/batches?rate=2600.5", headers: csvBody, body: "url\nhttps://cars.example/1\n", status: 201, has: []string{`"rate":2600.5`}},
	{
		name: "a webhook of its own", url: "/v1/batches", status: 201, has: []string{`"webhook":{"id":"wh`, `"secret":"whsec_`},
		body: `{"urls":["https://cars.example/1"],"webhook":"https://receiver.example/"}`,
	},
	{
		name: "bad rows", url: "/v1/batches", status: 400,
		body: `{"items":[{"url":"https://cars.example/1"},7,{"reference":"a"},{"url":"ftp://x/"},{"url":"https://cars.example/2","reference":"` + strings.Repeat("x", 201) +
			`"},{"url":"http://127.0.0.1/"},{"url":"https://cars.example/3","modelBody":"` + strings.Repeat("x", 201) + `"}]}`,
		has: []string{
			`{"error":"6 of 7 rows are invalid.`, `"rows":[{"row":2,"code":"row_invalid"`,
			`{"row":3,"reference":"a","code":"url_missing"`, `{"row":4,"url":"ftp://x/","code":"url_forbidden"`, `{"row":5,`,
			`"code":"reference_invalid"`, `{"row":6,"url":"http://127.0.0.1/","code":"url_forbidden"`, `{"row":7,"url":"https://cars.example/3","code":"field_invalid"`,
		},
		hasNot: []string{`"row":1,`, `"more"`},
	},
}

// A batch's own webhook is created once, found by the next batch, and notified
// of no other events; the caller's own webhook of the address is preferred.
func TestWebhookOfABatch(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	type hook struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	hand := func(key, address string) hook {
		t.Helper()
		r := a.request(t, http.MethodPost, "/v1/batches", `{"urls":["https://cars.example/1"],"webhook":"`+address+`"}`)
		r.Header.Set("Idempotency-Key", key)
		got := a.send(t, r)
		var made struct {
			ID      string `json:"id"`
			Webhook *hook  `json:"webhook"`
		}
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusCreated || made.Webhook == nil {
			t.Fatal(err, got)
		}
		later := a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+made.ID, ""))
		if !strings.Contains(later.body, `"webhook":{"id":"`+made.Webhook.ID+`"}`) {
			t.Errorf("later: %s", later.body)
		}
		return *made.Webhook
	}
	first := hand("first", "https://receiver.example/")
	if again := hand("first", "https://receiver.example/"); again != first || first.Secret == "" {
		t.Errorf("the same request: %v, then %v", first, again)
	}
	if next := hand("next", "https://receiver.example/"); next.ID != first.ID || next.Secret != "" {
		t.Errorf("the next batch: %v, then %v", first, next)
	}
	if other := hand("other", "https://other.example/"); other.ID == first.ID || other.Secret == first.Secret {
		t.Errorf("another address: %v, then %v", first, other)
	}
	all := a.send(t, a.request(t, http.MethodGet, "/v1/webhooks", ""))
	if strings.Count(all.body, `"events":[]`) != 2 || strings.Count(all.body, `"id"`) != 2 {
		t.Errorf("webhooks: %s", all.body)
	}

	own := a.send(t, a.request(t, http.MethodPost, "/v1/webhooks", `{"url":"https://own.example/","events":["job.completed"]}`))
	if hook := hand("own", "https://own.example/"); hook.Secret != "" || !strings.Contains(own.body, hook.ID) {
		t.Errorf("%v is not %s", hook, own.body)
	}
}
