package api_test

import (
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/jobs"
)

// ended submits a listing and returns its job once the worker has ended it.
func ended(path string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		id := a.submit(t, path)
		if _, err := a.hub.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return id
	}
}

// hanging submits a listing whose job never ends.
func hanging(t *testing.T, a *app) string { return a.submit(t, hangs) }

var jobScenarios = []scenario{
	{
		name: "queued", url: "/v1/jobs/{id}", before: hanging, status: 200,
		has:    []string{`{"id":"{id}","kind":"estimate","state":"queued","step":"scrape","attempt":1,"created":"20`},
		hasNot: []string{"ended", "result", "error"},
		want:   map[string]string{"Preference-Applied": "", "Cache-Control": "no-store"},
	},
	{
		name: "running", url: "/v1/jobs/{id}", status: 200,
		before: func(t *testing.T, a *app) string {
			id := a.submit(t, hangs)
			if verdict, _, err := a.jobs.Claim(t.Context(), id, "scrape", 1, "w", "c"); err != nil || verdict != jobs.Claimed {
				t.Fatal(verdict, err)
			}
			return id
		},
		has: []string{
			`"state":"running","step":"scrape","attempt":1`, `"progress":{"done":0,"total":3,"steps":[{"name":"scrape","state":"running","text":{"en":"Reading the page of the car",`, `{"name":"match","state":"waiting",`,
		},
	},
	{
		name: "succeeded", url: "/v1/jobs/{id}", before: ended("/job-done"), status: 200,
		has:    []string{`"state":"succeeded"`, `"ended":"20`, `"result":` + string(estimateOf("https://cars.example/job-done"))},
		hasNot: []string{`"step"`, `"attempt"`, `"error"`},
	},
	{
		name: "failed", url: "/v1/jobs/{id}", before: ended(noMatch), status: 200,
		has:    []string{`"state":"failed"`, `"error":{"error":"No TRA entry`, `"code":"no_match"`, `"candidates":[{"make":"TOYOTA"`},
		hasNot: []string{`"result"`},
	},
	{
		name: "cancelled", url: "/v1/jobs/{id}", before: ended(cancelled), status: 200,
		has: []string{`"state":"cancelled"`, `"code":"cancelled"`}, hasNot: []string{`"result"`},
	},
	{
		name: "waited for and ended already", url: "/v1/jobs/{id}", before: ended("/job-waited"), headers: prefer("wait=25"),
		status: 200, has: []string{`"state":"succeeded"`}, want: map[string]string{"Preference-Applied": "wait=25"},
	},
	{
		name: "wait without a result", url: "/v1/jobs/{id}", before: hanging, headers: prefer("wait=0"),
		status: 200, hasNot: []string{`"ended"`}, want: map[string]string{"Preference-Applied": "wait=0"},
	},
	{name: "unknown", url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2", status: 404, has: []string{`"code":"job_not_found"`}},
	{
		name: "unknown and waited for", url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2", headers: prefer("wait=25"),
		status: 404, has: []string{`"code":"job_not_found"`},
	},
	{name: "an id that none can be", url: "/v1/jobs/a-b", status: 404, has: []string{`"code":"not_found"`}},
	{name: "a key pattern as id", url: "/v1/jobs/%7B*%7D", status: 404, has: []string{`"code":"not_found"`}},
	{name: "no id", url: "/v1/jobs/", status: 404, has: []string{`"code":"not_found"`}},
	{
		name: "another method", method: http.MethodPost, url: "/v1/jobs/x", body: "{}",
		status: 405, want: map[string]string{"Allow": "DELETE, GET, HEAD, OPTIONS"},
	},
	{name: "without a key", url: "/v1/jobs/{id}", keyless: true, before: hanging, status: 401, exact: unauthorized},
}

func TestLongPollEndsWithTheJob(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, "/polled")
	answers := make(chan answer)
	go func() {
		r := a.request(t, http.MethodGet, "/v1/jobs/"+id, "")
		r.Header.Set("Prefer", "wait=25")
		answers <- a.send(t, r)
	}()
	spinUntil(func() bool { return a.hub.Waiting() == 1 })
	if err := a.end(t.Context(), id, succeeded(estimateOf(site+"/polled"))); err != nil {
		t.Fatal(err)
	}
	if err := a.tasks.Advance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.status != http.StatusOK || !strings.Contains(got.body, `"state":"succeeded"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// asked has a listing that never ends estimated for the keys named.
func asked(path string, owners ...string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		id := ""
		for _, owner := range owners {
			if owner == "" {
				owner = a.keyID
			}
			job, err := a.tasks.Estimate(t.Context(), site+hangs+path, owner, jobs.Interactive)
			if err != nil {
				t.Fatal(err)
			}
			id = job.ID
		}
		return id
	}
}

func cancelling(name string, before func(*testing.T, *app) string, status int, has ...string) scenario {
	return scenario{name: name, method: http.MethodDelete, url: "/v1/jobs/{id}", before: before, status: status, has: has}
}

// twice cancels a job once before the test does.
func twice(before func(*testing.T, *app) string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		id := before(t, a)
		a.send(t, a.request(t, http.MethodDelete, "/v1/jobs/"+id, ""))
		return id
	}
}

var cancelScenarios = []scenario{
	cancelling("one's own", asked("?1", ""), 200, `"id":"{id}","kind":"estimate","state":"cancelled"`, `"code":"cancelled"`),
	cancelling("twice", twice(asked("?2", "")), 200, `"state":"cancelled"`),
	cancelling("another's", asked("?3", "other"), 403, `"code":"not_asked"`),
	cancelling("one that others wait for", asked("?4", "", "other"), 409, `"code":"job_wanted"`),
	cancelling("and once more", twice(asked("?5", "", "other")), 403, `"code":"not_asked"`),
	cancelling("one that has succeeded", ended("/cancel-done"), 409, `"code":"job_ended"`),
	cancelling("one that has failed", ended(noMatch), 409, `"code":"job_ended"`),
	{name: "unknown", method: http.MethodDelete, url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2", status: 404, has: []string{`"code":"job_not_found"`}},
	{name: "without a key", method: http.MethodDelete, url: "/v1/jobs/{id}", before: asked("?6", ""), keyless: true, status: 401, exact: unauthorized},
}
