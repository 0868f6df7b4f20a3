package api_test

import (
	"net/http"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/testenv"
)

// awaitEnd returns when a job has ended.
func (a *app) awaitEnd(t *testing.T, id string) {
	t.Helper()
	testenv.Await(t, "the end of the job", func() (any, bool) {
		job, err := a.jobs.Get(t.Context(), id)
		return err, err == nil && job.State.Ended()
	})
}

// ended submits a listing and returns its job once the worker has ended it.
func ended(path string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		id := a.submit(t, path)
		a.awaitEnd(t, id)
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
		name: "succeeded", url: "/v1/jobs/{id}", before: ended("/job-done"), status: 200,
		has:    []string{`"state":"succeeded"`, `"ended":"20`, `"result":` + shown(string(estimateOf("https://cars.example/job-done")))},
		hasNot: []string{`"step"`, `"attempt"`, `"error"`},
	},
	{
		name: "failed", url: "/v1/jobs/{id}", before: ended(noMatch), status: 200,
		has:    []string{`"state":"failed"`, `"error":{"error":"No TRA entry`, `"code":"no_match"`, `"candidates":[{"make":"TOYOTA"`},
		hasNot: []string{`"result"`},
	},
	{name: "unknown", url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2", status: 404, has: []string{`"code":"job_not_found"`}},
	{name: "an id that none can be", url: "/v1/jobs/a-b", status: 404, has: []string{`"code":"not_found"`}},
	{name: "a key pattern as id", url: "/v1/jobs/%7B*%7D", status: 404, has: []string{`"code":"not_found"`}},
	{name: "no id", url: "/v1/jobs/", status: 404, has: []string{`"code":"not_found"`}},
	{
		name: "another method", method: http.MethodPost, url: "/v1/jobs/x", body: "{}",
		status: 405, want: map[string]string{"Allow": "DELETE, GET, HEAD, OPTIONS"},
	},
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

var cancelScenarios = []scenario{
	cancelling("one's own", asked("?1", ""), 200, `"id":"{id}","kind":"estimate","state":"cancelled"`, `"code":"cancelled"`),
	cancelling("another's", asked("?3", "other"), 403, `"code":"not_asked"`),
	cancelling("one that has succeeded", ended("/cancel-done"), 409, `"code":"job_ended"`),
	{name: "unknown", method: http.MethodDelete, url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2", status: 404, has: []string{`"code":"job_not_found"`}},
}
