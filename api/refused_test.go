package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/pace"
)

// TestADefiniteRefusalIsRemembered for some minutes: the same request fetches nothing, and
// counts.
func TestADefiniteRefusalIsRemembered(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits = pace.Limits{PerMinute: 10} })
	a.work(t)
	left := ""
	for i := range 3 {
		r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+noMatch+`?remembered"}`)
		r.Header.Set("X-Request-ID", "mine")
		got := a.send(t, r)
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `"retryable":false`) ||
			!strings.Contains(got.body, `"request":"mine"`) {
			t.Errorf("request %d: %d %s", i, got.status, got.body)
		}
		if now := got.header.Get("Ratelimit-Remaining"); now == left {
			t.Errorf("request %d was not counted: %s left", i, now)
		} else {
			left = now
		}
		if line := a.log.wait(t, "request", "mine"); line["level"] != "INFO" {
			t.Errorf("a caller's mistake is logged as %v", line["level"])
		}
	}
	<-a.taken // which the worker says after the caller has its answer
	if again := len(a.taken); again != 0 {
		t.Errorf("the worker did it %d times more", again)
	}
	a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+cancelled+`?again"}`))
	<-a.taken
	if got := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+cancelled+`?again"}`)); got.status != http.StatusConflict {
		t.Error(got.status)
	}
	select {
	case <-a.taken:
	case <-time.After(10 * time.Second):
		t.Error("what was cancelled is not done again")
	}
}

// TestTheFieldToBlameIsNamed in the body.
func TestTheFieldToBlameIsNamed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	for _, c := range []struct{ path, body, param string }{
		{"/v1/estimate", `{}`, "url"},
		{"/v1/estimate", `{"url":"nonsense"}`, "url"},
		{"/v1/estimate", `{"url":"` + site + `/1","rate":1}`, "rate"},
		{"/v1/estimate", `{"url":"` + site + `/1","lang":"fr"}`, "lang"},
		{"/v1/estimate", `{"url":"` + site + `/1","html":""}`, "html"},
		{"/v1/estimate", `{"url":"` + site + `/1","explain":1}`, "explain"},
		{"/v1/estimate", `{"url":"` + site + `/1","costs":{"freightUSD":-1}}`, "costs.freightUSD"},
		{"/v1/estimate", `{"url":"` + site + `/1","known":{"year":1}}`, "known.year"},
		{"/v1/estimate", `{"url":"` + site + `/1","destination":"Mombasa"}`, "destination"},
		{"/v1/quote", `{"make":"TOYOTA","model":"VITZ"}`, "year"},
		{"/v1/compare", `{"url1":"` + site + `/1"}`, "url2"},
		{"/v1/compare", `{"url1":"x","url2":"` + site + `/1"}`, "url1"},
		{"/v1/compare", `{"url1":"` + site + `/1","url2":"` + site + `/1"}`, "url2"},
		{"/v1/webhooks", `{"url":"https://receiver.example/","events":[]}`, "events"},
		{"/v1/condition-report", `{}`, "url"},
	} {
		got := a.send(t, a.request(t, http.MethodPost, c.path, c.body))
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"param":"`+c.param+`"`) ||
			!strings.Contains(got.body, `"request":"`+got.header.Get("X-Request-ID")+`"`) {
			t.Errorf("%s %s: %d %s", c.path, c.body, got.status, got.body)
		}
	}
}
