package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/jobs"
	"ushuru/pkg/operate"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// switched is an authority that the test can take away.
type switched struct{ away atomic.Bool }

func (s *switched) Status(context.Context) (tra.Status, error) {
	if s.away.Load() {
		return tra.Status{Outage: tra.Outage{Reason: tra.ReasonNoWorker, Message: "No worker is running."}}, nil
	}
	return tra.Status{}, nil
}

// calculating brings the first car of a comparison to its last step and returns the
// comparison's job.
func (a *app) calculating(t *testing.T) *jobs.Job {
	t.Helper()
	input := tasks.CompareInput{URL1: site + "/1", URL2: site + "/2", Rate: "2600", Lang: "en"}
	job, err := a.tasks.Submit(t.Context(), tasks.KindCompare, input, tasks.Requester{Owner: a.keyID, Class: jobs.Interactive})
	if err != nil {
		t.Fatal(err)
	}
	if job, err = a.jobs.Get(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{tasks.StepScrape, tasks.StepMatch} {
		child, err := a.jobs.Get(t.Context(), job.Children[tasks.ChildCar1].Job)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.tasks.Complete(t.Context(), child, step, json.RawMessage(`{}`), tasks.Run{}); err != nil {
			t.Fatal(err)
		}
	}
	return job
}

// A comparison, its event stream and a batch say that TRA cannot be asked, and that it
// can be asked again.
func TestAllThatWaitSayThatTheAuthorityIsAway(t *testing.T) {
	t.Parallel()
	status := &switched{}
	a := newApp(t, embedded(t), func(o *api.Options) { o.Status = status.Status })
	job := a.calculating(t)
	created := a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+hangs+`"]}`))
	batch := created.header.Get("Location")
	var streams []<-chan sse
	for _, path := range []string{"/v1/jobs/" + job.ID + "/events", batch + "/events"} {
		_, events := a.listen(t, t.Context(), path, "")
		if first := next(t, events); strings.Contains(first.data, "waitingFor") {
			t.Errorf("%s: %s", path, first.data)
		}
		streams = append(streams, events)
	}
	status.away.Store(true)
	started := time.Now()
	for _, events := range streams {
		if e := next(t, events); !strings.Contains(e.data, `"waitingFor":"authority"`) || !strings.Contains(e.data, "No worker") {
			t.Errorf("away: %s", e.data)
		}
	}
	if took := time.Since(started); took > 12*time.Second {
		t.Errorf("the streams say so after %v", took)
	}
	for _, path := range []string{"/v1/jobs/" + job.ID, batch} {
		if got := a.send(t, a.request(t, http.MethodGet, path, "")); !strings.Contains(got.body, `"waitingFor":"authority"`) {
			t.Errorf("%s", got.body)
		}
	}
	got := a.send(t, a.request(t, http.MethodPost, "/v1/compare",
		`{"url1":"`+site+`/1","url2":"`+site+`/2","rate":2600}`))
	if took := time.Since(started); got.status != http.StatusGatewayTimeout || took > 15*time.Second ||
		!strings.Contains(got.body, `"waitingFor":"authority"`) || !strings.HasSuffix(got.header.Get("Location"), job.ID) {
		t.Errorf("after %v: %d %s", took, got.status, got.body)
	}
	status.away.Store(false)
	for _, events := range streams {
		if e := next(t, events); strings.Contains(e.data, "waitingFor") {
			t.Errorf("back: %s", e.data)
		}
	}
}

// A person who has joined a running job of a batch learns at once when its site asks
// for a pause; the job goes on for the batch.
func TestPersonOfAJoinedJobLearnsOfAPause(t *testing.T) {
	t.Parallel()
	conn := embedded(t)
	a := newApp(t, conn, func(o *api.Options) { o.Status = (&switched{}).Status })
	job, err := a.tasks.Estimate(t.Context(), site+hangs, "another caller", jobs.Bulk)
	if err != nil {
		t.Fatal(err)
	}
	_, events := a.listen(t, t.Context(), "/v1/jobs/"+job.ID+"/events", "")
	next(t, events)
	streams := a.hub.Waiting()
	answers := make(chan answer, 2)
	go func() {
		answers <- a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+hangs+`"}`))
	}()
	go func() {
		r := a.request(t, http.MethodGet, "/v1/jobs/"+job.ID, "")
		r.Header.Set("Prefer", "wait=40")
		answers <- a.send(t, r)
	}()
	testenv.Await(t, "both requests that wait for the job", func() (any, bool) {
		waiting := a.hub.Waiting()
		return waiting, waiting == streams+2
	})
	if err := conn.Client().Set(t.Context(), "fetch:pause:{cars.example}", 1, time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	for range 2 {
		got := <-answers
		var body struct {
			vehicle.Error

			State   jobs.State `json:"state"`
			Message string     `json:"message"`
		}
		if err := json.Unmarshal([]byte(got.body), &body); err != nil {
			t.Fatal(err)
		}
		if body.WaitingFor != "site" || body.RetryAfter < 3500 || !strings.Contains(body.Error.Message+body.Message, `"html"`) {
			t.Errorf("%s", got.body)
		}
		if body.State == "" && (body.Code != "host_busy" || !strings.HasSuffix(got.header.Get("Location"), job.ID)) {
			t.Errorf("%d, %q, %s", got.status, got.header.Get("Location"), got.body)
		}
	}
	if took := time.Since(started); took > 12*time.Second {
		t.Errorf("they learn it after %v", took)
	}
	for e := next(t, events); !strings.Contains(e.data, `"waitingFor":"site"`); e = next(t, events) {
		t.Logf("event %s", e.data)
	}
	if record, err := a.jobs.Get(t.Context(), job.ID); err != nil || record.State.Ended() {
		t.Errorf("%+v, %v", record, err)
	}
}

// A batch and a job of its rows say at which pace the pages of their site are requested, and the
// batch ends when those of the slowest site do.
func TestABusySiteSaysItsPace(t *testing.T) {
	t.Parallel()
	conn := embedded(t)
	a := newApp(t, conn, func(o *api.Options) { o.Status = (&switched{}).Status })
	client, now := conn.Client(), time.Now().UnixMilli()
	for i := range 21 { // a page each two seconds
		if err := client.RPush(t.Context(), "fetch:pages:{cars.example}", now-int64(2000*i)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Set(t.Context(), "fetch:waiting:{cars.example}", 3, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	urls := make([]string, 0, 110)
	for i := range 100 {
		urls = append(urls, fmt.Sprintf("%q", site+"/slow/"+strconv.Itoa(i)))
	}
	for i := range 10 {
		urls = append(urls, fmt.Sprintf("%q", "https://other.example/"+strconv.Itoa(i)))
	}
	created := a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":[`+strings.Join(urls, ",")+`]}`))
	var b struct {
		WaitingFor  string `json:"waitingFor"`
		Message     string `json:"message"`
		SecondsLeft int    `json:"secondsLeft"`
	}
	got := a.send(t, a.request(t, http.MethodGet, created.header.Get("Location"), ""))
	if err := json.Unmarshal([]byte(got.body), &b); err != nil {
		t.Fatal(err)
	}
	if b.WaitingFor != "site" || !strings.HasPrefix(b.Message, "100 rows wait for pages of cars.example, which are read at 0.") ||
		b.SecondsLeft < 200 || b.SecondsLeft > 260 {
		t.Errorf("got %+v, want 100 rows at half a page a second", b)
	}
	job, err := a.tasks.Estimate(t.Context(), site+hangs, a.keyID, jobs.Bulk)
	if err != nil {
		t.Fatal(err)
	}
	said := a.send(t, a.request(t, http.MethodGet, "/v1/jobs/"+job.ID, "")).body
	if !strings.Contains(said, `"waitingFor":"site"`) || !strings.Contains(said, "Other pages of cars.example are read before, 0.") {
		t.Errorf("the job of a row: %s", said)
	}
}

// Work that waits in a queue which the operator has paused says so, by the queue's name.
func TestAPausedQueueIsNamedByWhatWaits(t *testing.T) {
	t.Parallel()
	conn := embedded(t)
	a := newApp(t, conn, func(o *api.Options) { o.Status = (&switched{}).Status })
	job, err := a.tasks.Estimate(t.Context(), site+hangs, a.keyID, jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	batch := a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+`/1"]}`)).header.Get("Location")
	operator := operate.New(operate.Options{Redis: conn.Client()})
	for path, queue := range map[string]string{"/v1/jobs/" + job.ID: tasks.QueueAny, batch: tasks.QueueAny + tasks.BulkSuffix} {
		if got := a.send(t, a.request(t, http.MethodGet, path, "")); strings.Contains(got.body, "waitingFor") {
			t.Errorf("before: %s", got.body)
		}
		if err := conn.Client().SAdd(t.Context(), "asynq:queues", queue).Err(); err != nil { // as its worker does
			t.Fatal(err)
		}
		if err := operator.PauseQueue(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		testenv.Await(t, "the queue "+queue+" named by "+path, func() (any, bool) {
			got := a.send(t, a.request(t, http.MethodGet, path, "")).body
			return got, strings.Contains(got, `"waitingFor":"queue_paused"`) && strings.Contains(got, "paused the queue "+queue+":")
		})
	}
}
