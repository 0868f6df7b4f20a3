package client_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/money"
)

// script is a server inside the process that gives its responses in order and
// records the requests.
type script struct {
	answers  []func(http.ResponseWriter)
	requests []string
	keys     []string // Idempotency-Key of each attempt
	broken   int      // connections that are lost first
	lost     error    // with which; nil is an unexpected end
	halved   int      // responses that break off
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	if s.broken > 0 {
		s.broken--
		return nil, cmp.Or(s.lost, io.ErrUnexpectedEOF)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
	if r.Header.Get("Authorization") != "Bearer secret" {
		return nil, errors.New("no key")
	}
	w := httptest.NewRecorder()
	s.answers[0](w)
	if s.halved > 0 {
		s.halved--
		half := w.Result()
		half.Body = io.NopCloser(io.MultiReader(io.LimitReader(half.Body, 5), iotest.ErrReader(io.ErrUnexpectedEOF)))
		return half, nil
	}
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return w.Result(), nil
}

func says(status int, body string, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func newClient(t *testing.T, s *script) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: "http://api.example/", Key: "secret", Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRetriesWhenRetryAfterSays(t *testing.T) {
	for name, s := range map[string]*script{
		"limited":     {answers: []func(http.ResponseWriter){says(429, `{"error":"slowly"}`, "Retry-After", "7"), says(200, `{}`)}},
		"unavailable": {answers: []func(http.ResponseWriter){says(503, `{"error":"later"}`, "Retry-After", "7"), says(200, `{}`)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			answer, err := newClient(t, s).Do(t.Context(), client.Request{Path: "/v1/sites"})
			if err != nil || string(answer.Body) != "{}" {
				t.Fatalf("%s: %v, %v", name, answer, err)
			}
			if took := time.Since(began); took < 7*time.Second || took > 9*time.Second {
				t.Errorf("%s: retried after %v", name, took)
			}
		})
	}
}

func TestALostConnectionIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{broken: 3, answers: []func(http.ResponseWriter){says(200, `{}`)}}
		if _, err := newClient(t, s).Do(t.Context(), client.Request{Path: "/v1/sites"}); err != nil {
			t.Fatal(err)
		}
		s = &script{broken: 1000}
		if _, err := newClient(t, s).Do(t.Context(), client.Request{Path: "/v1/sites"}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		if attempts := 1000 - s.broken; attempts != 11 {
			t.Errorf("%d attempts", attempts)
		}
	})
}

func TestAResponseThatBreaksOffIsRequestedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{halved: 2, answers: []func(http.ResponseWriter){says(200, `{"rate":2650}`)}}
		answer, err := newClient(t, s).Do(t.Context(), client.Request{Path: "/v1/sites"})
		if err != nil || string(answer.Body) != `{"rate":2650}` || len(s.requests) != 3 {
			t.Fatalf("%v, %v, requests %q", answer, err, s.requests)
		}
	})
}

func TestAnErrorIsNotRetried(t *testing.T) {
	s := &script{answers: []func(http.ResponseWriter){
		says(500, `{"error":"More than one fits.","code":"ambiguous_match","candidates":[{"make":"TOYOTA","modelBody":"A - B - C"}],`+
			`"car":{"make":"TOYOTA","year":2012},"text":{"en":"More than one fits.","sw":"Zaidi ya moja."}}`),
	}}
	_, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{URL: "x"})
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Status != 500 || failure.Code != "ambiguous_match" || len(failure.Candidates) != 1 || len(s.requests) != 1 {
		t.Fatalf("%v, requests %q", err, s.requests)
	}
	if failure.Car == nil || failure.Car.Year != 2012 || failure.Text == nil || failure.Text.SW != "Zaidi ya moja." {
		t.Errorf("the car %+v, the text %+v", failure.Car, failure.Text)
	}
}

func TestTheErrorOfAJobHasItsCarAndCandidates(t *testing.T) {
	s := &script{answers: []func(http.ResponseWriter){
		says(202, `{}`, "Location", "/v1/jobs/1"),
		says(200, `{"state":"failed","error":{"error":"No.","code":"no_match","car":{"year":2012},"candidates":[{"modelBody":"A"}]}}`),
	}}
	_, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{URL: "x"})
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Car == nil || failure.Car.Year != 2012 || len(failure.Candidates) != 1 {
		t.Fatalf("%v, requests %q", err, s.requests)
	}
}

func TestResponsesOfOtherServers(t *testing.T) {
	for want, answer := range map[string]func(http.ResponseWriter){
		"status 502 and no explanation":      says(502, "<html>bad gateway</html>"),
		`status 301): use "https://other/x"`: says(301, "", "Location", "https://other/x"),
	} {
		_, err := newClient(t, &script{answers: []func(http.ResponseWriter){answer}}).Do(t.Context(), client.Request{Path: "/x"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

const unfinished = `{"error":"not finished","code":"not_finished","retryable":true}`

func TestWaitsForAJob(t *testing.T) {
	for name, first := range map[string]func(http.ResponseWriter){
		"504": says(504, unfinished, "Location", "/v1/jobs/7?rate=2700", "Retry-After", "2"),
		"202": says(202, `{"id":"7","state":"queued"}`, "Location", "/v1/jobs/7?rate=2700"),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []func(http.ResponseWriter){
				first, says(200, `{"state":"running"}`), says(200, `{"state":"succeeded","result":{"asOf":"now"}}`),
			}}
			rate, err := money.ParseNumber("2700")
			if err != nil {
				t.Fatal(err)
			}
			result, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{URL: "x", Terms: client.Terms{Rate: &rate}})
			if err != nil || result.AsOf != "now" || string(result.JSON) != `{"asOf":"now"}` {
				t.Fatalf("%s: %+v, %v", name, result, err)
			}
			want := "POST http://api.example/v1/estimate?fields=all {\"rate\":2700,\"url\":\"x\"}\nGET http://api.example/v1/jobs/7?rate=2700\n" +
				"GET http://api.example/v1/jobs/7?rate=2700"
			if got := strings.Join(s.requests, "\n"); got != want {
				t.Errorf("%s: requests\n%s\nwant\n%s", name, got, want)
			}
		})
	}
}

// A record that has lost its result has it in the cache, where the request finds it.
func TestAResultThatIsNotInTheJobIsRequestedAgain(t *testing.T) {
	s := &script{answers: []func(http.ResponseWriter){
		says(202, `{}`, "Location", "/v1/jobs/7"), says(200, `{"state":"succeeded"}`), says(200, `{"cached":true}`),
	}}
	if result, err := newClient(t, s).Quote(t.Context(), client.QuoteRequest{}); err != nil || !result.Cached {
		t.Fatalf("%+v, %v, requests %q", result, err, s.requests)
	}
}

func TestAFailedJobIsNotRequestedAgain(t *testing.T) {
	s := &script{answers: []func(http.ResponseWriter){
		says(504, unfinished, "Location", "/v1/jobs/7"),
		says(200, `{"state":"failed","error":{"error":"Sold.","code":"listing_sold"}}`),
	}}
	_, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{})
	if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Code != "listing_sold" || len(s.requests) != 2 {
		t.Fatalf("%v, requests %q", err, s.requests)
	}
}

func TestNoOtherServerIsCalled(t *testing.T) {
	s := &script{answers: []func(http.ResponseWriter){says(504, unfinished, "Location", "@evil.example/v1/jobs/7")}}
	if _, err := newClient(t, s).Estimate(t.Context(), client.EstimateRequest{}); err == nil || len(s.requests) != 1 {
		t.Fatalf("%v, requests %q", err, s.requests)
	}
}

func TestTheContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := &script{answers: []func(http.ResponseWriter){
			says(504, unfinished, "Location", "/v1/jobs/7"), says(200, `{"state":"running"}`),
		}}
		if _, err := newClient(t, s).Estimate(ctx, client.EstimateRequest{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []client.Options{
		{}, {URL: "api.example", Key: "k"}, {URL: "ftp://api.example", Key: "k"}, {URL: "http://api.example", Key: " "},
	} {
		if _, err := client.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

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
		batch, err := client.Send[client.Batch](t.Context(), newClient(t, s), "POST /v1/batches", map[string][]string{"urls": {"u"}})
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
