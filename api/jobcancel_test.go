package api_test

import (
	"net/http"
	"testing"

	"ushuru/pkg/jobs"
)

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
