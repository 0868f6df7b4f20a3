package api_test

import (
	"net/http"
	"testing"
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
	strictly("strict comparison", "/v1/compare?strict=true", `{"url1":"`+site+`/1","url2":"`+site+`/2","target":{"onTheRoadTZS":25000000}}`, "target"),
	{name: "the contract as JSON", url: "/openapi.json", keyless: true, status: 200, has: []string{`"openapi":"3.1.0"`, `"/v1/estimate"`}},
}

// TestAReplayedRequestSaysSo for each way in which an outcome is kept.
func TestAReplayedRequestSaysSo(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	a.put(t, "/kept")
	hook := hooked(t, a)
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
