package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/jobs"
)

// submitted requests an estimate for the tests' key and returns its job once it has ended,
// or at once if it never ends.
func (a *app) submitted(t *testing.T, listing string) string {
	t.Helper()
	job, err := a.tasks.Estimate(t.Context(), site+listing, a.keyID, jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	if listing == hangs {
		return job.ID
	}
	if _, err := a.hub.Wait(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	return job.ID
}

// listOf returns what the list of the caller's jobs has at a path.
func (a *app) listOf(t *testing.T, query string) (ids []string, next string) {
	t.Helper()
	var page struct {
		Jobs []struct {
			ID string `json:"id"`
		} `json:"jobs"`
		Next string `json:"next"`
	}
	if err := json.Unmarshal([]byte(a.send(t, a.request(t, http.MethodGet, "/v1/jobs?"+query, "")).body), &page); err != nil {
		t.Fatal(err)
	}
	for _, job := range page.Jobs {
		ids = append(ids, job.ID)
	}
	return ids, page.Next
}

func TestJobsOfAKeyAreListedAndRetried(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	hook := hooked("")(t, a)
	succeeded, refused, failed := a.submitted(t, "/listed"), a.submitted(t, noMatch), a.submitted(t, forbidden)
	others := a.submit(t, "/of-another")
	quote := a.request(t, http.MethodPost, "/v1/quote", `{"make":"toyota","model":"ist","year":2005}`)
	if got := a.send(t, quote); got.status != http.StatusOK {
		t.Fatal(got)
	}
	all := a.send(t, a.request(t, http.MethodGet, "/v1/jobs", "")).body
	for _, want := range []string{
		`"id":"` + succeeded + `","kind":"estimate","state":"succeeded","created":"20`, `"urls":["https://cars.example/listed"],"location":"/v1/jobs/` + succeeded + `"`,
		`"state":"failed"`, `"code":"no_match"`, `"kind":"quote"`, `"car":{"make":"TOYOTA"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	if strings.Contains(all, others) || strings.Contains(all, `"result"`) || strings.Contains(all, `"candidates"`) {
		t.Errorf("the list has %s or results: %s", others, all)
	}
	first, next := a.listOf(t, "limit=3")
	rest, last := a.listOf(t, "limit=3&cursor="+next)
	if len(first) != 3 || len(rest) != 1 || last != "" {
		t.Errorf("%q then %q, and %q", first, rest, last)
	}
	if ids, _ := a.listOf(t, "state=failed"); len(ids) != 2 {
		t.Errorf("failed: %q", ids)
	}
	for _, s := range []scenario{
		{name: "a state that is none", url: "/v1/jobs?state=waiting", status: 400, has: []string{`"state_unknown"`, "queued"}},
		{name: "a cursor that is none", url: "/v1/jobs?cursor=garbage", status: 400, has: []string{`"page_invalid"`}},
		{name: "a retry of what succeeded", method: http.MethodPost, url: "/v1/jobs/" + succeeded + "/retry", status: 409, has: []string{`"job_not_failed"`}},
		{name: "a retry of another's", method: http.MethodPost, url: "/v1/jobs/" + others + "/retry", status: 403, has: []string{`"not_asked"`, "retry"}},
		{name: "a retry of none", method: http.MethodPost, url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2/retry", status: 404, has: []string{`"job_not_found"`}},
		{name: "a retry of a refusal that is remembered", method: http.MethodPost, url: "/v1/jobs/" + refused + "/retry", status: 422, has: []string{`"no_match"`}},
		{
			name: "a retry", method: http.MethodPost, url: "/v1/jobs/" + failed + "/retry?rate=4000", status: 202,
			headers: map[string]string{"Idempotency-Key": "again"}, has: []string{`"kind":"estimate"`, `?rate=4000"`}, hasNot: []string{`"id":"` + failed},
		},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(t, a) })
	}
	events := a.send(t, a.request(t, http.MethodGet, "/v1/webhooks/"+hook+"/deliveries", "")).body
	if !strings.Contains(events, `"error":{"error":"No TRA entry fits this car.","code":"no_match"`) {
		t.Errorf("the event of a refusal is none of %s", events)
	}
	again := a.request(t, http.MethodPost, "/v1/jobs/"+failed+"/retry?rate=4000", "")
	again.Header.Set("Idempotency-Key", "again")
	got := a.send(t, again)
	if ids, _ := a.listOf(t, ""); len(ids) != 5 || got.header.Get("Idempotency-Replayed") != "true" || !strings.Contains(got.body, ids[0]) {
		t.Errorf("%q, then %v", ids, got)
	}
}

// What came with a request is deleted when its job ends, so that the job cannot be retried.
func TestAJobWithAPageIsNotRetried(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+noMatch+`","html":"<p>a page</p>"}`)
	a.send(t, r) // it waits for the end
	ids, _ := a.listOf(t, "")
	scenario{
		method: http.MethodPost, url: "/v1/jobs/" + ids[0] + "/retry", status: 409, has: []string{`"attachment_not_kept"`},
	}.run(t, a)
}

// With respond-async a result from the cache has an event too, whose job leads to it.
func TestKnownResultsAreAnnounced(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.put(t, "/known")
	ask := func(name, value string) answer {
		t.Helper()
		r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/known","rate":4000}`)
		r.Header.Set(name, value)
		got := a.send(t, r)
		if got.status != http.StatusOK || !strings.Contains(got.body, `"cached":true`) {
			t.Fatal(got)
		}
		return got
	}
	if got := ask("Prefer", "respond-async"); got.header.Get("Location") != "" {
		t.Errorf("a job without a webhook: %v", got.header)
	}
	hook := hooked("")(t, a)
	if ask("Prefer", "wait=5"); len(a.notified(t, hook)) != 0 {
		t.Error("a caller who waits got an event")
	}
	got := ask("Prefer", "respond-async")
	location := got.header.Get("Location")
	if at := a.notified(t, hook); len(at) != 1 || at[0] != location || !strings.HasSuffix(location, "?rate=4000") {
		t.Errorf("events lead to %q, the response to %q", at, location)
	}
	job := a.send(t, a.request(t, http.MethodGet, location, "")).body
	if same(resultOf(t, job)) != same(strings.TrimSpace(got.body)) || !strings.Contains(job, `"state":"skipped"`) {
		t.Errorf("the job has\n%s\nthe response was\n%s", job, got.body)
	}
	if ids, _ := a.listOf(t, ""); len(ids) != 1 || !strings.Contains(location, ids[0]) {
		t.Errorf("listed: %q", ids)
	}
	// What ended a moment ago is not announced twice to one key.
	if again := ask("Prefer", "respond-async"); again.header.Get("Location") != location || len(a.notified(t, hook)) != 1 {
		t.Errorf("again: %v", again.header)
	}
	if _, err := a.cache.Get(t.Context(), estimateKey("/known")); err != nil {
		t.Error(err)
	}
}
