package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// pausedFor checks that an answer says that the site pauses for about an hour and
// that the page can be sent.
func pausedFor(t *testing.T, got answer) {
	t.Helper()
	var body vehicle.Error
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	header, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != http.StatusInternalServerError || body.Code != "host_busy" || !strings.Contains(body.Message, `"html"`) ||
		err != nil || header != body.RetryAfter || header < 3590 || header > 3600 {
		t.Errorf("%d, Retry-After %q, %s", got.status, got.header.Get("Retry-After"), got.body)
	}
}

// A person learns at once that a site has asked for a pause, and without a job,
// unless the result is cached or the person sends the page. The same request later
// gets its result, also under the same Idempotency-Key.
func TestPersonLearnsOfAPauseAtOnce(t *testing.T) {
	t.Parallel()
	conn := embedded(t)
	a := newApp(t, conn, nil)
	a.work(t)
	a.put(t, "/hit")
	hold := conn.Client().Set(t.Context(), "fetch:pause:{cars.example}", 1, time.Hour)
	if hold.Err() != nil {
		t.Fatal(hold.Err())
	}
	start := time.Now()
	for _, headers := range []map[string]string{nil, prefer("respond-async"), {"Idempotency-Key": "one"}} {
		r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/paused"}`)
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		pausedFor(t, a.send(t, r))
	}
	if took := time.Since(start); took > 15*time.Second || len(a.taken) != 0 {
		t.Errorf("%s, %d jobs", took, len(a.taken))
	}
	for _, body := range []string{
		`{"url":"https://cars.example/hit"}`, `{"url":"https://other.example/1"}`,
		`{"url":"https://cars.example/paused","html":"<title>TOYOTA</title>"}`,
	} {
		if got := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", body)); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	// A short pause is waited for.
	if err := conn.Client().PExpire(t.Context(), "fetch:pause:{cars.example}", 10*time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/paused"}`)
	r.Header.Set("Idempotency-Key", "one")
	if got := a.send(t, r); got.status != http.StatusOK {
		t.Errorf("after the pause: %d %s", got.status, got.body)
	}
}

// A person whose job was running when the site asked for the pause gets the same
// answer from the job.
func TestJobThatEndedForAPauseSaysUntilWhen(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	job, err := a.tasks.Estimate(t.Context(), site+hangs, a.keyID, jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	failure := tasks.JobError(tasks.SitePaused(time.Hour, tasks.OfferPage, nil))
	if err := a.tasks.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: failure}); err != nil {
		t.Fatal(err)
	}
	got := a.send(t, a.request(t, http.MethodGet, "/v1/jobs/"+job.ID, ""))
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || !strings.Contains(string(body.Error), `"retryAfter":3`) {
		t.Errorf("%v, %s", err, got.body)
	}
}
