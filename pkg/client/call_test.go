package client_test

import (
	"errors"
	"net/http"
	"net/url"
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

// What has not ended is read again, though a reading is lost or refused for a moment.
func TestABatchIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){
			says(200, `{"state":"running","rows":2}`), says(503, `{"error":"later"}`, "Retry-After", "1"),
			says(200, `{"state":"running","rows":2}`), says(200, `{"state":"completed","rows":2}`),
		}}
		var states []string
		batch, err := client.Follow(t.Context(), newClient(t, s), client.BatchPath("1"), func(b *client.Batch) {
			states = append(states, b.State)
		})
		if got, want := strings.Join(states, "/"), "running/running/completed"; err != nil || got != want || batch.Rows != 2 {
			t.Errorf("got %s, %+v, %v, want %s", got, batch, err, want)
		}
	})
	s := &script{answers: []func(http.ResponseWriter){says(404, `{"error":"No such batch.","code":"batch_not_found"}`)}}
	_, err := client.Follow[client.Batch](t.Context(), newClient(t, s), client.BatchPath("1"))
	if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Code != "batch_not_found" {
		t.Errorf("got %v, want batch_not_found", err)
	}
}

// A response without a body is no answer, but for 204: an estimate of zeros would look right.
func TestAnEmptyResponseIsNoAnswer(t *testing.T) {
	t.Parallel()
	for status, ok := range map[int]bool{200: false, 201: false, 204: true} {
		s := &script{answers: []func(http.ResponseWriter){says(status, "")}}
		if answer, err := client.Send[client.Batch](t.Context(), newClient(t, s), "POST /v1/batches", nil); (err == nil) != ok {
			t.Errorf("%d: got %+v, %v, want an error: %t", status, answer, err, !ok)
		}
	}
}

// A list comes page by page. A page that breaks off is requested again; no row comes twice.
func TestListsAreReadPageByPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){
			says(200, `{"items":[{"row":1},{"row":2}],"next":"2"}`), says(200, `{"items":[{"row":3}]}`),
		}}
		var rows []int
		for item, err := range client.List[client.BatchItem](t.Context(), newClient(t, s), "/v1/batches/1/items", "items", url.Values{"state": {"failed"}}) {
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

// Each reading of a job is told of.
func TestProgressIsReported(t *testing.T) {
	running := `{"id":"7","kind":"estimate","state":"running","progress":{"steps":[{"name":"scrape","state":"done"}]}}`
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(http.ResponseWriter){
			says(202, `{}`, "Location", "/v1/jobs/7?rate=2700"), says(200, running), says(200, `{"state":"succeeded","result":{}}`),
		}}
		var states []string
		_, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{}, func(j *client.Job) {
			states = append(states, j.State)
		})
		if got, want := strings.Join(states, " "), "running succeeded"; err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if !strings.HasSuffix(s.requests[1], "/v1/jobs/7?rate=2700") {
			t.Errorf("requests %q", s.requests)
		}
	})
}
