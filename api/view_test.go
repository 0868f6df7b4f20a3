package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// view is a request for an estimate in a view that differs in everything from the usual.
const view = `{"url":"` + site + `/viewed","rate":4000,"explain":true,"lang":"sw","landing":"LANDING","costs":{"freightUSD":900}}`

// resultOf returns the estimate of a response, or that in a job.
func resultOf(t *testing.T, body string) (text string) {
	t.Helper()
	var job struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal([]byte(body), &job); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if job.Result != nil {
		return string(job.Result)
	}
	return body
}

// TestOneAnswerWhicheverWayItIsRead: waiting, by Location of 202 and of 504, by the body
// of 202, by the events, and by the location of the webhook event.
func TestOneAnswerWhicheverWayItIsRead(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.WaitMax = time.Second })
	hook := hooked(t, a)
	request := strings.Replace(view, "LANDING", inDays(40), 1)
	ask := func(prefer string) answer {
		r := a.request(t, http.MethodPost, "/v1/estimate", request)
		if prefer != "" {
			r.Header.Set("Prefer", prefer)
		}
		return a.send(t, r)
	}
	async, waited, late := ask("respond-async"), ask("wait=0"), ask("")
	if async.status != 202 || waited.status != 202 || late.status != 504 {
		t.Fatal(async.status, waited.status, late.status)
	}
	plain := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/viewed"}`)
	plain.Header.Set("Prefer", "respond-async")
	shared := a.send(t, plain)
	var accepted struct {
		ID       string `json:"id"`
		Location string `json:"location"`
		Events   string `json:"events"`
	}
	if err := json.Unmarshal([]byte(async.body), &accepted); err != nil {
		t.Fatal(err)
	}
	if got := shared.header.Get("Location"); got != "/v1/jobs/"+accepted.ID {
		t.Errorf("the usual view of the same job is at %q", got)
	}
	a.explained(t)
	a.work(t)
	<-a.taken
	want := resultOf(t, ask("").body)
	for _, piece := range []string{`"others":4000`, `"likely":"` + inDays(40), `"explain":[{"name":"make"`, "TSh milioni"} {
		if !strings.Contains(want, piece) {
			t.Errorf("no %s in %s", piece, want)
		}
	}
	locations := []string{
		async.header.Get("Location"), waited.header.Get("Location"), late.header.Get("Location"), accepted.Location,
	}
	for _, at := range a.notified(t, hook) {
		if !strings.HasPrefix(at, "/v1/jobs/"+accepted.ID) {
			t.Errorf("an event leads to %s", at)
		}
		if strings.Contains(at, "?") {
			locations = append(locations, at)
		}
	}
	if len(locations) != 5 {
		t.Errorf("%q", locations)
	}
	for _, location := range locations {
		if got := resultOf(t, a.send(t, a.request(t, http.MethodGet, location, "")).body); same(got) != same(want) {
			t.Errorf("%s leads to\n%s\nwho waits gets\n%s", location, got, want)
		}
	}
	stream := a.send(t, a.request(t, http.MethodGet, accepted.Events, "")).body
	_, data, _ := strings.Cut(stream, "event: end\ndata: ")
	data, _, _ = strings.Cut(data, "\n")
	if got := resultOf(t, data); same(got) != same(want) {
		t.Errorf("the events have\n%s\nwho waits gets\n%s", got, want)
	}
	if !strings.Contains(data, `"location":"`+accepted.Location+`"`) {
		t.Errorf("the events do not lead to the same result: %s", data)
	}
}

// same is a result without what says that it came from the cache, and that the answer has a draft.
func same(result string) string {
	return strings.NewReplacer(`"cached":true`, `"cached":false`, `,"draft":true`, "").Replace(result)
}

// explained keeps the sources of the values of the listing that view names.
func (a *app) explained(t *testing.T) {
	t.Helper()
	key := cache.ExplanationKey(tasks.EstimateInput{URL: site + "/viewed"}.PageKey())
	data := []byte(`{"explain":[{"name":"make","value":"TOYOTA","source":"labels","rank":1}],"notes":[]}`)
	if err := a.cache.PutRaw(t.Context(), key, data, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// notified returns the locations in the events of a webhook about jobs.
func (a *app) notified(t *testing.T, hook string) (locations []string) {
	t.Helper()
	deliveries, err := webhook.NewStore(a.conn.Client(), nil).Deliveries(t.Context(), a.keyID, hook, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deliveries {
		var sent struct {
			Data struct {
				Location string `json:"location"`
			} `json:"data"`
		}
		if err := json.Unmarshal(d.Payload, &sent); err != nil {
			t.Fatal(err)
		}
		if d.Event == webhook.JobCompleted {
			locations = append(locations, sent.Data.Location)
		}
	}
	slices.Sort(locations)
	return slices.Compact(locations)
}

// TestARefusedJobIsExplainedWhicheverWayItIsRead as the response to the request is.
func TestARefusedJobIsExplainedWhicheverWayItIsRead(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	job, err := a.tasks.Estimate(t.Context(), site+"/viewed", "", jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	a.explained(t)
	refusal := tasks.Refusal{Car: &vehicle.Car{Make: "TOYOTA", Images: []string{}}}
	why := failures[noMatch]
	details, err := json.Marshal(refusal)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.end(t.Context(), job.ID, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: why.Notice, Details: details}}); err != nil {
		t.Fatal(err)
	}
	got := a.send(t, a.request(t, http.MethodGet, "/v1/jobs/"+job.ID+"?explain=true", ""))
	if !strings.Contains(got.body, `"explain":[{"name":"make"`) || !strings.Contains(got.body, `"code":"no_match"`) {
		t.Error(got.body)
	}
	if got := a.send(t, a.request(t, http.MethodGet, "/v1/jobs/"+job.ID, "")); strings.Contains(got.body, `"explain"`) {
		t.Error(got.body)
	}
}

// TestTheEndOfAWaitSaysWhy it is over, and which job goes on.
func TestTheEndOfAWaitSaysWhy(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.WaitMax = 50 * time.Millisecond })
	ask := func() (problem struct {
		Job        string `json:"job"`
		WaitingFor string `json:"waitingFor"`
		Error      string `json:"error"`
		Code       string `json:"code"`
	},
	) {
		got := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/slow"}`))
		if err := json.Unmarshal([]byte(got.body), &problem); err != nil || got.status != 504 {
			t.Fatal(got.status, got.body)
		}
		if got.header.Get("Location") != "/v1/jobs/"+problem.Job || problem.Code != "not_finished" {
			t.Errorf("%q, %+v", got.header.Get("Location"), problem)
		}
		return problem
	}
	first := ask()
	if first.WaitingFor != "worker" || !strings.HasPrefix(first.Error, "The job waits for a worker that is free for its step scrape.") {
		t.Errorf("%+v", first)
	}
	if _, _, err := a.jobs.Claim(t.Context(), first.Job, "scrape", 1, "w", "c"); err != nil {
		t.Fatal(err)
	}
	if then := ask(); then.WaitingFor != "step" || then.Job != first.Job || !strings.HasPrefix(then.Error, "The job is at its step scrape.") {
		t.Errorf("%+v", then)
	}
	r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/slow"}`)
	r.Header.Set("Prefer", "wait=1")
	if now := a.send(t, r); now.status != 202 || !strings.Contains(now.body, `"state":"running"`) {
		t.Errorf("202 does not show the state as it is now: %s", now.body)
	}
}

// TestARequestHasItsMetadataAndItsWebhook: both are in the job, and in the event of its end,
// which names the listing and goes to the webhook that the request names.
func TestARequestHasItsMetadataAndItsWebhook(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	store := webhook.NewStore(a.conn.Client(), nil)
	hook, _, err := store.Add(t.Context(), a.keyID, webhook.NewID(), "https://receiver.example/", []string{webhook.BatchCompleted})
	if err != nil {
		t.Fatal(err)
	}
	const said = `"metadata":{"order":"17"}`
	body := `{"url":"` + site + `/tagged",` + said + `,"webhook":"` + hook.ID + `"}`
	r := a.request(t, http.MethodPost, "/v1/estimate", body)
	r.Header.Set("Prefer", "respond-async")
	accepted := a.send(t, r)
	if accepted.status != http.StatusAccepted || !strings.Contains(accepted.body, said) {
		t.Fatalf("got %d %s", accepted.status, accepted.body)
	}
	a.work(t)
	<-a.taken
	at := accepted.header.Get("Location")
	if got := a.send(t, a.request(t, http.MethodGet, at, "")); !strings.Contains(got.body, said) {
		t.Errorf("%s has no metadata: %s", at, got.body)
	}
	if got := a.send(t, a.request(t, http.MethodGet, "/v1/jobs", "")); !strings.Contains(got.body, said) ||
		!strings.Contains(got.body, `"location":"`+at+`"`) {
		t.Errorf("the list of jobs has neither the metadata nor %s: %s", at, got.body)
	}
	testenv.Await(t, "the event", func() (any, bool) {
		deliveries, err := store.Deliveries(t.Context(), a.keyID, hook.ID, 9)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(deliveries, func(d webhook.Delivery) bool { return d.Event == webhook.JobCompleted })
		if at < 0 {
			return deliveries, false
		}
		event := string(deliveries[at].Payload)
		return event, strings.Contains(event, said) && strings.Contains(event, `"urls":["`+site+`/tagged"]`)
	})
	for _, c := range []struct{ field, code string }{
		{`"metadata":{"a":1}`, "metadata"},
		{`"metadata":[]`, "metadata"},
		{`"metadata":{"a":"` + strings.Repeat("x", 512) + `"}`, "metadata"},
		{`"metadata":{"1":"","2":"","3":"","4":"","5":"","6":"","7":"","8":"","9":""}`, "metadata"},
		{`"webhook":"whnone"`, "webhook"},
		{`"webhook":7`, "webhook"},
	} {
		got := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/tagged",`+c.field+`}`))
		if got.status != 400 || !strings.Contains(got.body, `"code":"field_invalid"`) || !strings.Contains(got.body, `"param":"`+c.code+`"`) {
			t.Errorf("%.60s: got %d %s, want field_invalid of %s", c.field, got.status, got.body, c.code)
		}
	}
	scenario{
		name: "a batch", url: "/v1/batches", body: `{"urls":["` + site + `/1"],` + said + `,"webhook":"` + hook.ID + `"}`, status: 201,
		has: []string{said, `"webhook":{"id":"` + hook.ID + `"}`},
	}.run(t, a)
	scenario{
		name: "a batch with a webhook of nobody", url: "/v1/batches", body: `{"urls":["` + site + `/1"],"webhook":"whnone"}`, status: 400,
		has: []string{`"param":"webhook"`},
	}.run(t, a)
}
