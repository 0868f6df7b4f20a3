package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"ushuru/api"
	"ushuru/pkg/pace"
)

// strictly is a request that is refused for a field that does not exist.
func strictly(name, path, body, field string) scenario {
	return scenario{
		name: name, url: path, body: body, status: 400,
		has: []string{`"code":"field_unknown"`, `"fields":"` + field + `"`},
	}
}

var cornerScenarios = []scenario{
	strictly("strict estimate", "/v1/estimate?strict=true", `{"url":"`+site+`/1","colour":"red"}`, "colour"),
	strictly("strict terms", "/v1/estimate?strict=true", `{"url":"`+site+`/1","costs":{"agent":1}}`, "costs.agent"),
	strictly("strict quote", "/v1/quote?strict=true", `{"make":"TOYOTA","model":"VITZ","year":2016,"doors":5}`, "doors"),
	strictly("strict comparison", "/v1/compare?strict=true", `{"url1":"`+site+`/1","url2":"`+site+`/2","target":{"onTheRoadTZS":25000000}}`, "target"),
	strictly("strict report", "/v1/condition-report?strict=true", `{"url":"https://image.example/1.jpg","pages":2}`, "pages"),
	strictly("strict batch", "/v1/batches?strict=true", `{"urls":["`+site+`/1"],"name":"mine"}`, "name"),
	strictly("strict webhook", "/v1/webhooks?strict=true", `{"url":"https://receiver.example/","events":["job.completed"],"secret":"x"}`, "secret"),
	{name: "the contract as JSON", url: "/openapi.json", keyless: true, status: 200, has: []string{`"openapi":"3.1.0"`, `"/v1/estimate"`}},
	{
		name: "batches from nowhere on", url: "/v1/batches?cursor=garbage", status: 400,
		has: []string{`"code":"page_invalid"`},
	},
}

// TestWebhooksAreChanged has its own Redis: a key has few webhooks.
func TestWebhooksAreChanged(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	for _, s := range []scenario{
		{
			name: "a webhook with a field that does not exist", url: "/v1/webhooks", status: 201,
			body: `{"url":"https://receiver.example/x","events":["job.completed"],"colour":"red"}`,
			has:  []string{`"warnings":[{"code":"field_ignored"`, `colour`},
		},
		{
			name: "an empty change of a webhook", method: http.MethodPatch, url: oneHook, body: `{}`, before: hooked(""),
			status: 400, has: []string{`"code":"events_invalid"`},
		},
		{
			name: "a change of events", method: http.MethodPatch, url: oneHook, body: `{"events":["batch.completed","job.completed"]}`,
			before: hooked(""), status: 200, has: []string{`"events":["batch.completed","job.completed"]`, `"url":"https://receiver.example/"`},
		},
		{
			name: "a change to an insecure URL", method: http.MethodPatch, url: oneHook, body: `{"url":"http://receiver.example/"}`,
			before: hooked(""), status: 400, has: []string{`"code":"url_insecure"`},
		},
		{
			name: "a change of another's webhook", method: http.MethodPatch, url: oneHook, body: `{"events":["batch.completed"]}`,
			before: hooked("another"), status: 404, has: []string{`"code":"webhook_not_found"`},
		},
		{
			name: "a change of a URL", method: http.MethodPatch, url: oneHook, body: `{"url":"https://other.example/"}`,
			before: hooked(""), status: 200, has: []string{`"url":"https://other.example/"`, `"state":"pending"`, `"events":["job.completed"]`},
		},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(t, a) })
	}
}

// TestTheLastPageOfBatchesIsNotEmpty: a list whose length is a multiple of the limit
// ends with its last batch.
func TestTheLastPageOfBatchesIsNotEmpty(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	for range 4 {
		a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+`/1"]}`))
	}
	path, pages := "/v1/batches?limit=2", 0
	for path != "" {
		var page struct {
			Batches []json.RawMessage `json:"batches"`
			Next    string            `json:"next"`
		}
		if err := json.Unmarshal([]byte(a.send(t, a.request(t, http.MethodGet, path, "")).body), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Batches) != 2 {
			t.Errorf("page %d has %d batches", pages, len(page.Batches))
		}
		if pages, path = pages+1, ""; page.Next != "" {
			path = "/v1/batches?limit=2&cursor=" + page.Next
		}
	}
	if pages != 2 {
		t.Errorf("%d pages", pages)
	}
}

// TestRateLimitInTheDraftsPresentForm is beside the three headers of its early versions.
func TestRateLimitInTheDraftsPresentForm(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits = pace.Limits{PerMinute: 7} })
	got := a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+`/1"]}`))
	if policy := got.header.Get("Ratelimit-Policy"); policy != `"minute";q=7;w=60` {
		t.Errorf("policy %q", policy)
	}
	remaining, reset := got.header.Get("Ratelimit-Remaining"), got.header.Get("Ratelimit-Reset")
	if left := got.header.Get("Ratelimit"); remaining == "" || left != `"minute";r=`+remaining+`;t=`+reset {
		t.Errorf("left %q, the early headers %q and %q", left, remaining, reset)
	}
}

// TestAReplayedRequestSaysSo for each way in which an outcome is kept.
func TestAReplayedRequestSaysSo(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	a.put(t, "/kept")
	hook := hooked("")(t, a)
	for _, c := range []struct{ name, path, body string }{
		{"a job", "/v1/estimate", `{"url":"` + site + `/new"}`},
		{"a kept result", "/v1/estimate", `{"url":"` + site + `/kept"}`},
		{"a batch", "/v1/batches", `{"urls":["` + site + `/1"]}`},
		{"a webhook", "/v1/webhooks", `{"url":"https://receiver.example/","events":["job.completed"]}`},
		{"a secret", "/v1/webhooks/" + hook + "/rotate", ""},
		{"enabled", "/v1/webhooks/" + hook + "/enable", ""},
	} {
		for i, want := range []string{"", "true", "true"} {
			r := a.request(t, http.MethodPost, c.path, c.body)
			r.Header.Set("Idempotency-Key", c.name)
			if got := a.send(t, r); got.status/100 != 2 || got.header.Get("Idempotency-Replayed") != want {
				t.Errorf("%s, request %d: %d, replayed %q, want %q", c.name, i, got.status, got.header.Get("Idempotency-Replayed"), want)
			}
		}
	}
}
