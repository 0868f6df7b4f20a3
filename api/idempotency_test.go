package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/jobs"
)

// named adds an Idempotency-Key, and asks for a job instead of waiting.
func named(key string) map[string]string {
	return map[string]string{"Idempotency-Key": key, "Prefer": "respond-async"}
}

// firstUnder sends a request under an Idempotency-Key and returns its job.
func firstUnder(key, url, body string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		r := a.request(t, http.MethodPost, url, body)
		for name, value := range named(key) {
			r.Header.Set(name, value)
		}
		got := a.send(t, r)
		var made struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || made.ID == "" {
			t.Fatal(err, got.body)
		}
		return made.ID
	}
}

// endedUnder is firstUnder for a job that fails before it is asked for again.
func endedUnder(key, url, body string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		id := firstUnder(key, url, body)(t, a)
		if _, err := a.tasks.Abandon(t.Context(), id, a.keyID); err != nil {
			t.Fatal(err)
		}
		return id
	}
}

const (
	named1 = `{"url":"https://cars.example/hangs?idem1"}`
	named2 = `{"url":"https://cars.example/hangs?idem2"}`
	quoted = `{"make":"toyota","modelCode":"NKE165","year":2016,"fobPriceUSD":6180}`
)

var malformedKey = []string{`"code":"idempotency_key_invalid"`}

var idempotencyScenarios = []scenario{
	{
		name: "again", url: "/v1/estimate", body: `{ "lang": "sw", "url": "HTTPS://cars.example/hangs?idem1"}`, headers: named("one"),
		before: firstUnder("one", "/v1/estimate", named1), status: 202, has: []string{`"id":"{id}"`},
	},
	{
		name: "in quotes", url: "/v1/estimate", body: named1, headers: named(`"one"`),
		before: firstUnder("one", "/v1/estimate", named1), status: 202, has: []string{`"id":"{id}"`},
	},
	{
		name: "another listing", url: "/v1/estimate", body: named2, headers: named("two"),
		before: firstUnder("two", "/v1/estimate", named1), status: 422, has: []string{`"code":"idempotency_key_reused"`},
	},
	{
		name: "another rate", url: "/v1/estimate", body: `{"url":"https://cars.example/hangs?idem1","rate":2500}`, headers: named("three"),
		before: firstUnder("three", "/v1/estimate", named1), status: 422, has: []string{`"code":"idempotency_key_reused"`},
	},
	{
		name: "at another address", url: "/v1/quote", body: quoted, headers: map[string]string{"Idempotency-Key": "four"},
		before: firstUnder("four", "/v1/estimate", named1), status: 200,
	},
	{
		name: "what ended stays ended", url: "/v1/estimate", body: named2, headers: named("five"),
		before: endedUnder("five", "/v1/estimate", named2), status: 500, has: []string{`"code":"cancelled"`},
	},
	{name: "empty", url: "/v1/estimate", body: named1, headers: named(""), status: 400, has: malformedKey},
	{name: "empty in quotes", url: "/v1/estimate", body: named1, headers: named(`""`), status: 400, has: malformedKey},
	{name: "half quoted", url: "/v1/estimate", body: named1, headers: named(`"a`), status: 400, has: malformedKey},
	{name: "unprintable", url: "/v1/estimate", body: named1, headers: named("ufunguo é"), status: 400, has: malformedKey},
	{name: "too long", url: "/v1/estimate", body: named1, headers: named(strings.Repeat("k", 256)), status: 400, has: malformedKey},
	{name: "long", url: "/v1/estimate", body: named1, headers: named(strings.Repeat("k", 255)), status: 202},
}

func TestAnAnswerUnderAKeyStaysThatAnswer(t *testing.T) {
	a := newApp(t, embedded(t), nil)
	a.put(t, "/kept")
	ask := func() answer {
		r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/kept"}`)
		r.Header.Set("Idempotency-Key", "kept")
		return a.send(t, r)
	}
	first := ask()
	if err := a.cache.Put(t.Context(), estimateKey("/kept"), versionOf(site+"/kept", "OTHER"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if again := ask(); first.status != 200 || again.body != first.body {
		t.Errorf("%d %s\n%s", first.status, first.body, again.body)
	}
}

func TestTwoAtOnceUnderAKeyAreOne(t *testing.T) {
	a := newApp(t, embedded(t), nil)
	for url, body := range map[string]string{
		"/v1/estimate": named1, "/v1/quote": quoted, "/v1/batches": `{"urls":["https://cars.example/a","https://cars.example/b"]}`,
	} {
		ids := make([]string, 10)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() { ids[i] = firstUnder("same", url, body)(t, a) })
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("%s: ids %v", url, ids)
				break
			}
		}
	}
	if got := a.send(t, a.request(t, http.MethodGet, "/v1/batches", "")); strings.Count(got.body, `"id"`) != 1 {
		t.Errorf("batches %s", got.body)
	}
}

// Whoever dies after the request was noted leaves a note without an outcome.
func TestARequestThatWasOnlyNotedIsDone(t *testing.T) {
	a := newApp(t, embedded(t), nil)
	r := a.request(t, http.MethodPost, "/v1/estimate", named1)
	for name, value := range named("died") {
		r.Header.Set(name, value)
	}
	id := firstUnder("died", "/v1/estimate", named1)(t, a)
	names, err := a.conn.Client().Keys(t.Context(), "idempotency:*").Result()
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := a.conn.Client().HDel(t.Context(), names[0], "outcome").Err(); err != nil {
		t.Fatal(err)
	}
	if got := a.send(t, r); got.status != 202 || !strings.Contains(got.body, id) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if job, err := a.jobs.Get(t.Context(), id); err != nil || job.State != jobs.Queued {
		t.Errorf("%+v, %v", job, err)
	}
}
