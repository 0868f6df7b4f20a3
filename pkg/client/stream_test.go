package client_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ushuru/pkg/client"
)

// jsonNames returns the names of the fields of a struct in JSON.
func jsonNames(value any) map[string]bool {
	names := map[string]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.Anonymous && name == "" {
				walk(field.Type)
				continue
			}
			names[name] = true
		}
	}
	walk(reflect.TypeOf(value))
	return names
}

// A stream that breaks off goes on after the last event that came whole.
func TestAStreamReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){
			says(200, "retry: 5000\n\n: here\n\nid: a\nevent: progress\ndata: {\"id\":\"7\",\ndata: \"state\":\"queued\"}\n\nid: b\ndata: {\"sta"),
			says(503, `{"error":"later"}`, "Retry-After", "1"),
			says(200, "id: b\nevent: progress\ndata: {\"state\":\"running\"}\n\n"),
			says(200, "id: c\nevent: end\ndata: {\"state\":\"failed\",\"error\":{\"error\":\"No.\",\"code\":\"no_match\"}}\n\n"),
		}}
		began := time.Now()
		var states []string
		for job, err := range newClient(t, s).JobEvents(t.Context(), "7", client.Terms{}) {
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, job.State)
		}
		if got := strings.Join(states, " "); got != "queued running failed" || len(s.requests) != 4 {
			t.Errorf("%s, requests %q", got, s.requests)
		}
		if got := strings.Join(s.lastIDs, "/"); got != "/a/a/b" {
			t.Errorf("Last-Event-ID %q", got)
		}
		if took := time.Since(began); took < 11*time.Second || took > 15*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAStreamEnds(t *testing.T) {
	for name, s := range map[string]*script{
		"when the end was received before": {answers: []func(http.ResponseWriter){says(204, "")}},
		"when the reader stops": {answers: []func(http.ResponseWriter){
			says(200, "id: a\nevent: progress\ndata: {}\n\nid: b\nevent: progress\ndata: {}\n\n"),
		}},
	} {
		first(newClient(t, s).BatchEvents(t.Context(), "1"))
		if len(s.requests) != 1 {
			t.Errorf("%s: requests %q", name, s.requests)
		}
	}
	s := &script{answers: []func(http.ResponseWriter){says(404, `{"error":"No such batch.","code":"batch_not_found"}`)}}
	for batch, err := range newClient(t, s).BatchEvents(t.Context(), "1") {
		if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Code != "batch_not_found" || batch != nil {
			t.Errorf("%v, %v", batch, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){says(200, ": here\n\n")}}
		for _, err := range newClient(t, s).BatchEvents(t.Context(), "1") {
			if err == nil || len(s.requests) != 11 {
				t.Errorf("%v after %d connections", err, len(s.requests))
			}
		}
	})
}

// A list comes page by page. A page that breaks off is requested again; no row comes twice.
func TestListsAreReadPageByPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){
			says(200, `{"items":[{"row":1},{"row":2}],"next":"2"}`), says(200, `{"items":[{"row":3}]}`),
		}}
		var rows []int
		for item, err := range newClient(t, s).BatchItems(t.Context(), "1", "failed") {
			if err != nil {
				t.Fatal(err)
			}
			if rows = append(rows, item.Row); item.Row == 2 {
				s.halved = 1
			}
		}
		if !slices.Equal(rows, []int{1, 2, 3}) || len(s.requests) != 3 ||
			!strings.HasSuffix(s.requests[2], "items?cursor=2&state=failed") {
			t.Errorf("got rows %v, requests %q, want three rows in three requests", rows, s.requests)
		}
	})
}

// What the API calls retryable is requested again, what it does not is not, whatever
// the status.
func TestRetriesObeyTheAPI(t *testing.T) {
	for _, c := range []struct {
		name     string
		answer   func(http.ResponseWriter)
		attempts int
	}{
		{"an error that may pass", says(500, `{"error":"TRA is away","code":"authority_unavailable","retryable":true}`), 3},
		{"one that passes in a minute", says(500, `{"error":"paused","retryable":true}`, "Retry-After", "60"), 1},
		{"unavailable until it is configured", says(503, `{"error":"no AI","code":"no_ai","retryable":false}`), 1},
		{"a contradiction", says(422, `{"error":"no","retryable":false,"param":"year","request":"r1"}`), 1},
		{"an older API", says(500, `{"error":"internal"}`), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []func(http.ResponseWriter){c.answer}}
			_, err := newClient(t, s).Compare(t.Context(), client.CompareRequest{})
			failure, ok := errors.AsType[*client.Error](err)
			if !ok || len(s.requests) != c.attempts {
				t.Errorf("%s: %d requests, %v", c.name, len(s.requests), err)
			}
			if c.name == "a contradiction" && (failure.Param != "year" || failure.Request != "r1") {
				t.Errorf("%+v", failure)
			}
		})
	}
}

// A job that failed in a way that may pass is submitted again, twice.
func TestAFailedJobIsSubmittedAgain(t *testing.T) {
	failed := says(200, `{"state":"failed","error":{"error":"TRA is away","retryable":true}}`)
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){
			says(202, `{}`, "Location", "/v1/jobs/1"), failed, says(202, `{}`, "Location", "/v1/jobs/2"), failed,
			says(202, `{}`, "Location", "/v1/jobs/3"), failed,
		}}
		if _, err := newClient(t, s).Quote(t.Context(), client.QuoteRequest{}); err == nil || len(s.requests) != 6 {
			t.Errorf("got %d requests, %v, want 6 and an error", len(s.requests), err)
		}
	})
}

// A POST that is sent again has the same Idempotency-Key.
func TestARetriedPOSTHasOneIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{broken: 1, answers: []func(http.ResponseWriter){says(503, `{"error":"later"}`), says(201, `{"id":"b"}`)}}
		batch, err := newClient(t, s).CreateBatch(t.Context(), client.BatchRequest{Items: []client.BatchRow{{URL: "u"}}})
		if err != nil || batch.ID != "b" || len(s.keys) != 3 || s.keys[0] == "" || s.keys[0] != s.keys[1] || s.keys[1] != s.keys[2] {
			t.Errorf("%+v, %v, keys %q", batch, err, s.keys)
		}
	})
}

// Where nothing answers, that is said at once. An API that has answered restarts.
func TestARefusedConnectionIsSaidAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{broken: 1, lost: syscall.ECONNREFUSED, answers: []func(http.ResponseWriter){says(200, `{}`)}}
		c, began := newClient(t, s), time.Now()
		if _, err := c.TRAStatus(t.Context()); !errors.Is(err, client.ErrUnreachable) || time.Since(began) > 0 {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if _, err := c.TRAStatus(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.broken = 2
		if _, err := c.TRAStatus(t.Context()); err != nil {
			t.Errorf("a restart: %v", err)
		}
	})
}

// The progress of a job comes from its stream, and from its record where streams are
// not let through.
func TestProgressIsReported(t *testing.T) {
	running := `{"id":"7","kind":"estimate","state":"running","progress":{"steps":[{"name":"scrape","state":"done"}]}}`
	for name, answers := range map[string][]func(http.ResponseWriter){
		"stream": {
			says(200, "id: a\nevent: progress\ndata: "+running+"\n\nid: b\nevent: end\ndata: {\"state\":\"succeeded\",\"result\":{}}\n\n"),
		},
		"record": {says(404, `{}`), says(200, running), says(200, `{"state":"succeeded","result":{}}`)},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: append([]func(http.ResponseWriter){says(202, `{}`, "Location", "/v1/jobs/7?rate=2700")}, answers...)}
			var states []string
			_, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{}, func(j *client.Job) {
				states = append(states, j.State)
			})
			if err != nil || strings.Join(states, " ") != "running succeeded" {
				t.Errorf("%s: %v, %v", name, states, err)
			}
			if !strings.HasSuffix(s.requests[1], "/v1/jobs/7/events?rate=2700") {
				t.Errorf("%s: requests %q", name, s.requests)
			}
		})
	}
}
