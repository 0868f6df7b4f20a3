package estimates

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ushuru/api/apitest"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// submit submits a job of a kind for a key.
func submit(t *testing.T, p *apitest.Parts, kind, owner string, input any) *jobs.Job {
	t.Helper()
	job, err := p.Tasks.Submit(t.Context(), kind, input, tasks.Requester{Owner: owner, Class: jobs.Interactive})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func listingInput(path string) tasks.EstimateInput {
	return tasks.EstimateInput{URL: "https://cars.example" + path}
}

// of names a job in the path.
func of(job *jobs.Job) map[string]string { return map[string]string{"id": job.ID} }

// TestTheResultOfAJobIsInTheViewOfTheRequest.
func TestTheResultOfAJobIsInTheViewOfTheRequest(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	listed := submit(t, p, tasks.KindEstimate, "key", listingInput("/1"))
	quote := submit(t, p, tasks.KindQuote, "key", vehicle.QuoteInput{Make: "TOYOTA", Model: "IST", Year: 2005})
	for _, job := range []*jobs.Job{listed, quote} {
		open := apitest.Send(t, s.GetJob, apitest.Ask{URL: "/v1/jobs/" + job.ID + "?rate=2700", Vars: of(job)})
		if !open.Has(200, `"state":"queued"`, `"step":"`, `"location":"/v1/jobs/`+job.ID+`?rate=2700"`) || strings.Contains(open.Body, `"result"`) {
			t.Errorf("before its end: got %d %s", open.Status, open.Body)
		}
		result := estimateJSON(t)
		if job == quote {
			result = strings.Replace(result, `"object": "estimate"`, `"object": "quote"`, 1)
		}
		p.Succeed(t, job.ID, result)
	}
	for _, c := range []struct {
		job   *jobs.Job
		query string
		want  []string
	}{
		{listed, "", []string{`"state":"succeeded"`, `"result":{`, `"onTheRoad"`}},
		{listed, "?rate=2500", []string{`"others":2500`}},
		{listed, "?rate=2500&lang=sw&explain=true", []string{`"others":2500`, `"explain":[]`, `"location":"/v1/jobs/` + listed.ID + `?explain=true&lang=sw&rate=2500"`}},
		{listed, "?target=40000000&byMonth=true", []string{`"maxPriceUSD":{"targetTZS":40000000`, `"byMonth":{"months":[`}},
		{listed, `?costs={"freight":1}`, []string{`"field_ignored"`, "costs.freight"}},
		{quote, "?rate=2500", []string{`"others":2500`}},
	} {
		if got := apitest.Send(t, s.GetJob, apitest.Ask{URL: "/v1/jobs/" + c.job.ID + strings.ReplaceAll(c.query, `"`, "%22"), Vars: of(c.job)}); !got.Has(200, c.want...) {
			t.Errorf("%s: got %d %.600s, want %q", c.query, got.Status, got.Body, c.want)
		}
	}
	for query, param := range map[string]string{"?explain=banana": "explain", "?landing=soon": "landing", "?byMonth=yes": "byMonth", "?destination=Beira": "destination"} {
		if got := apitest.Send(t, s.GetJob, apitest.Ask{URL: "/v1/jobs/" + listed.ID + query, Vars: of(listed)}); !got.Has(400, `"param":"`+param+`"`) {
			t.Errorf("%s: got %d %s, want the field %s", query, got.Status, got.Body, param)
		}
	}
}

func TestTheErrorOfAJobIsInItsBody(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	job := submit(t, p, tasks.KindEstimate, "key", listingInput("/gone"))
	p.Fail(t, job.ID, &jobs.Error{Notice: message.New("error/listing_gone", nil), Permanent: true})
	for _, query := range []string{"", "?explain=true"} {
		got := apitest.Send(t, s.GetJob, apitest.Ask{URL: "/v1/jobs/" + job.ID + query, Vars: of(job)})
		if !got.Has(200, `"state":"failed"`, `"error":{"error":"`, `"code":"listing_gone"`, `"retryable":false`) {
			t.Errorf("%s: got %d %s", query, got.Status, got.Body)
		}
	}
	if got := apitest.Send(t, s.GetJob, apitest.Ask{URL: "/v1/jobs/none", Vars: map[string]string{"id": "none"}}); !got.Has(404, `"code":"job_not_found"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

// TestReadingAJobMayWaitForItsEnd, as long as the caller prefers.
func TestReadingAJobMayWaitForItsEnd(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	job := submit(t, p, tasks.KindEstimate, "key", listingInput("/later"))
	ask := apitest.Ask{URL: "/v1/jobs/" + job.ID, Vars: of(job), Headers: map[string]string{"Prefer": "wait=0"}}
	if got := apitest.Send(t, s.GetJob, ask); !got.Has(200, `"state":"queued"`) || got.Header.Get("Preference-Applied") != "wait=0" {
		t.Errorf("got %d %v %s", got.Status, got.Header, got.Body)
	}
	ask.Headers = map[string]string{"Prefer": "wait=9"}
	answers := make(chan apitest.Answer)
	go func() { answers <- apitest.Send(t, s.GetJob, ask) }()
	testenv.AwaitTrue(t, "a request that waits", func() bool { return p.Work.Waiting() == 1 })
	p.Succeed(t, job.ID, estimateJSON(t))
	if got := <-answers; !got.Has(200, `"state":"succeeded"`) {
		t.Errorf("got %d %.300s", got.Status, got.Body)
	}
}

// TestAJobIsCancelledByWhoRequestedItAlone.
func TestAJobIsCancelledByWhoRequestedItAlone(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	job := submit(t, p, tasks.KindEstimate, "key", listingInput("/1"))
	remove := func(job *jobs.Job, key string) apitest.Answer {
		return apitest.Send(t, s.CancelJob, apitest.Ask{Method: http.MethodDelete, URL: "/v1/jobs/" + job.ID, Vars: of(job), Key: key})
	}
	if got := remove(job, "other"); !got.Has(403, `"code":"not_asked"`) {
		t.Errorf("of another key: got %d %s", got.Status, got.Body)
	}
	if got := remove(job, "key"); !got.Has(200, `"state":"cancelled"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	ended := submit(t, p, tasks.KindEstimate, "key", listingInput("/2"))
	p.Succeed(t, ended.ID, estimateJSON(t))
	if got := remove(ended, "key"); !got.Has(409, `"code":"job_ended"`) {
		t.Errorf("that has ended: got %d %s", got.Status, got.Body)
	}
	shared := submit(t, p, tasks.KindEstimate, "key", listingInput("/3"))
	submit(t, p, tasks.KindEstimate, "other", listingInput("/3"))
	if got := remove(shared, "key"); !got.Has(409, `"code":"job_wanted"`) {
		t.Errorf("that another waits for: got %d %s", got.Status, got.Body)
	}
	if got := remove(&jobs.Job{ID: "none"}, "key"); !got.Has(404, `"code":"job_not_found"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestJobsOfAKeyAreListed(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	first := submit(t, p, tasks.KindEstimate, "key", listingInput("/1"))
	p.Fail(t, first.ID, &jobs.Error{Notice: message.New("error/listing_gone", nil), Details: json.RawMessage(`{"car":{"make":"TOYOTA"}}`)})
	second := submit(t, p, tasks.KindQuote, "key", vehicle.QuoteInput{Make: "TOYOTA", Model: "IST", Year: 2005})
	submit(t, p, tasks.KindEstimate, "other", listingInput("/2"))
	list := func(query string) apitest.Answer {
		return apitest.Send(t, s.ListJobs, apitest.Ask{URL: "/v1/jobs" + query})
	}
	got := list("")
	if !got.Has(200, `"id":"`+second.ID, `"car":{"make":"TOYOTA","model":"IST","year":2005}`, `"urls":["https://cars.example/1"]`, `"code":"listing_gone"`, `"location":"/v1/jobs/`+first.ID+`"`) ||
		strings.Index(got.Body, second.ID) > strings.Index(got.Body, first.ID) || strings.Contains(got.Body, "/2") || strings.Contains(got.Body, "candidates") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := list("?state=failed"); !got.Has(200, first.ID) || strings.Contains(got.Body, second.ID) {
		t.Errorf("those that failed: got %d %s", got.Status, got.Body)
	}
	if got := list("?limit=1"); !got.Has(200, second.ID, `"next":"`+second.ID+`"`) || !list("?limit=1&cursor="+second.ID).Has(200, first.ID) {
		t.Errorf("in pages: got %d %s", got.Status, got.Body)
	}
	for query, code := range map[string]string{"?state=done": "state_unknown", "?limit=0": "page_invalid", "?cursor=!": "page_invalid"} {
		if got := list(query); !got.Has(400, `"code":"`+code+`"`) {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, code)
		}
	}
}

// TestAFailedJobIsRequestedAgain: as another one, on the terms of the request.
func TestAFailedJobIsRequestedAgain(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	retry := func(job *jobs.Job, query, key string) apitest.Answer {
		return apitest.Send(t, s.RetryJob, apitest.Ask{Method: http.MethodPost, URL: "/v1/jobs/" + job.ID + "/retry" + query, Vars: of(job), Key: key})
	}
	for _, input := range map[string]any{tasks.KindEstimate: listingInput("/1"), tasks.KindQuote: vehicle.QuoteInput{Make: "TOYOTA", Model: "IST", Year: 2005}} {
		kind := tasks.KindQuote
		if _, ok := input.(tasks.EstimateInput); ok {
			kind = tasks.KindEstimate
		}
		job := submit(t, p, kind, "key", input)
		if got := retry(job, "", "key"); !got.Has(409, `"code":"job_not_failed"`) {
			t.Errorf("while it runs: got %d %s", got.Status, got.Body)
		}
		p.Fail(t, job.ID, &jobs.Error{Notice: message.New("error/internal", nil)})
		got := retry(job, "?rate=2700", "key")
		var made struct {
			ID, Location string
		}
		if got.Decode(t, &made); got.Status != 202 || made.ID == job.ID || made.Location != "/v1/jobs/"+made.ID+"?rate=2700" || got.Header.Get("Location") != made.Location || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %v %s", kind, got.Status, got.Header, got.Body)
		}
		if got := retry(job, "", "other"); !got.Has(403, `"code":"not_asked"`) {
			t.Errorf("by another key: got %d %s", got.Status, got.Body)
		}
		if got := retry(job, "?explain=banana", "key"); !got.Has(400, `"param":"explain"`) {
			t.Errorf("got %d %s", got.Status, got.Body)
		}
	}
	refused := submit(t, p, tasks.KindEstimate, "key", listingInput("/sold"))
	p.Fail(t, refused.ID, &jobs.Error{Notice: message.New("error/listing_gone", nil), Permanent: true})
	if got := retry(refused, "", "key"); !got.Has(422, `"code":"listing_gone"`) && got.Status != 202 {
		t.Errorf("a refusal that is remembered: got %d %s", got.Status, got.Body)
	}
	if got := retry(&jobs.Job{ID: "none"}, "", "key"); !got.Has(404, `"code":"job_not_found"`) {
		t.Errorf("a job that is none: got %d %s", got.Status, got.Body)
	}
	sent := tasks.EstimateInput{URL: "https://cars.example/sent", Page: "hash"}
	job, err := p.Tasks.Submit(t.Context(), tasks.KindEstimate, sent, tasks.Requester{Owner: "key", Class: jobs.Interactive, Attachment: []byte("page")})
	if err != nil {
		t.Fatal(err)
	}
	p.Fail(t, job.ID, &jobs.Error{Notice: message.New("error/internal", nil)})
	if got := retry(job, "", "key"); !got.Has(409, `"code":"attachment_not_kept"`) {
		t.Errorf("a page that is not kept: got %d %s", got.Status, got.Body)
	}
}

// TestAJobIsFollowed by its events, of which the last has its result.
func TestAJobIsFollowed(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	job := submit(t, p, tasks.KindEstimate, "key", listingInput("/1"))
	ask := apitest.Ask{URL: "/v1/jobs/" + job.ID + "/events?rate=2500", Vars: of(job)}
	answers := make(chan apitest.Answer)
	go func() { answers <- apitest.Send(t, s.JobEvents, ask) }()
	testenv.AwaitTrue(t, "an open stream", func() bool { return p.Streams.Open() == 1 })
	p.Succeed(t, job.ID, estimateJSON(t))
	got := <-answers
	if !got.Has(200, "retry: 2000\n\n", "event: progress\n", "event: end\n", `"state":"succeeded"`, `"others":2500`) {
		t.Errorf("got %d %.500s", got.Status, got.Body)
	}
	_, last, _ := strings.Cut(got.Body[strings.LastIndex(got.Body, "id: "):], "id: ")
	last, _, _ = strings.Cut(last, "\n")
	ask.Headers = map[string]string{"Last-Event-ID": last}
	if again := apitest.Send(t, s.JobEvents, ask); again.Status != http.StatusNoContent {
		t.Errorf("who has the last event: got %d %s", again.Status, again.Body)
	}
}
