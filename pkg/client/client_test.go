package client_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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
