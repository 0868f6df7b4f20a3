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
	a.awaitEnd(t, job.ID)
	return job.ID
}

// listOf returns the ids of the caller's jobs.
func (a *app) listOf(t *testing.T) (ids []string) {
	t.Helper()
	var page struct {
		Jobs []struct {
			ID string `json:"id"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(a.send(t, a.request(t, http.MethodGet, "/v1/jobs", "")).body), &page); err != nil {
		t.Fatal(err)
	}
	for _, job := range page.Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// What came with a request is deleted when its job ends, so that the job cannot be retried.
func TestAJobWithAPageIsNotRetried(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+noMatch+`","html":"<p>a page</p>"}`)
	a.send(t, r) // it waits for the end
	ids := a.listOf(t)
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
	hook := hooked(t, a)
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
	if ids := a.listOf(t); len(ids) != 1 || !strings.Contains(location, ids[0]) {
		t.Errorf("listed: %q", ids)
	}
	// What ended a moment ago is not announced twice to one key.
	if again := ask("Prefer", "respond-async"); again.header.Get("Location") != location || len(a.notified(t, hook)) != 1 {
		t.Errorf("again: %v", again.header)
	}
	if data, err := a.cache.Get(t.Context(), estimateKey("/known")); err != nil || data == nil {
		t.Error(err)
	}
}
