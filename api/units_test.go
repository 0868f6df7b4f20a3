package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorilla/mux"

	"ushuru/pkg/jobs"
)

// TestHalfAnAnswerIsCutOff has a handler panic after it has begun to answer:
// the caller must see a broken connection, not a short success.
func TestHalfAnAnswerIsCutOff(t *testing.T) {
	s := &Server{router: mux.NewRouter(), options: Options{Log: slog.New(slog.DiscardHandler)}}
	s.router.Handle("/", handler(func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write([]byte("half"))
		if err := http.NewResponseController(w).Flush(); err != nil { // through Unwrap
			t.Error(err)
		}
		panic("halfway")
	}))
	server := httptest.NewServer(s)
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("half an answer looked whole")
	}
}

// TestErrorOfACallerWhoLeft: whatever failed, it failed because nobody waits.
func TestErrorOfACallerWhoLeft(t *testing.T) {
	ctx, leave := context.WithCancel(withRecorder(t.Context(), &responseRecorder{}))
	leave()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	problemHandler(errUnavailable).ServeHTTP(w, r)
	if w.Code != statusClientClosedRequest {
		t.Errorf("status %d, want %d", w.Code, statusClientClosedRequest)
	}
}

func TestUnknownErrorIsInternal(t *testing.T) {
	x := &responseRecorder{ResponseWriter: httptest.NewRecorder()}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r = r.WithContext(withRecorder(r.Context(), x))
	handler(func(http.ResponseWriter, *http.Request) error { return errors.New("secret cause") }).ServeHTTP(w, r)
	const want = `{"error":"Something went wrong on our side. Please try again later.","code":"internal"}`
	if w.Code != http.StatusInternalServerError || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if x.err == nil || x.err.Error() != "secret cause" {
		t.Errorf("the log would say %v", x.err)
	}
}

func TestPreferenceOf(t *testing.T) {
	const waitMax = time.Minute
	for _, c := range []struct {
		name     string
		headers  []string
		accepts  bool
		patience time.Duration
		applied  string // to an answer with 202
	}{
		{"none", nil, false, waitMax, ""},
		{"asynchronous", []string{"respond-async"}, true, 0, "respond-async"},
		{"in any case", []string{"Respond-Async"}, true, 0, "respond-async"},
		{"wait", []string{"wait=5"}, true, 5 * time.Second, "wait=5"},
		{"wait in quotes and spaces", []string{` wait = "5" `}, true, 5 * time.Second, "wait=5"},
		{"both", []string{"respond-async, wait=5"}, true, 5 * time.Second, "respond-async, wait=5"},
		{"in two headers", []string{"wait=5", "respond-async"}, true, 5 * time.Second, "respond-async, wait=5"},
		{"with parameters", []string{"respond-async;x=y, wait=5; z"}, true, 5 * time.Second, "respond-async, wait=5"},
		{"the first wait counts", []string{"wait=5, wait=9"}, true, 5 * time.Second, "wait=5"},
		{"more than allowed", []string{"wait=61"}, true, waitMax, "wait=60"},
		{"more than a number holds", []string{"wait=99999999999999999999"}, false, waitMax, ""},
		{"negative", []string{"wait=-1"}, false, waitMax, ""},
		{"a fraction", []string{"wait=1.5"}, false, waitMax, ""},
		{"without a value", []string{"wait"}, false, waitMax, ""},
		{"others", []string{"handling=lenient, return=minimal"}, false, waitMax, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := preferenceOf(http.Header{"Prefer": c.headers}, waitMax)
			if p.accepts() != c.accepts || p.waitTimeout() != c.patience || p.applied(true) != c.applied {
				t.Errorf("accepts %v, patience %v, applied %q", p.accepts(), p.waitTimeout(), p.applied(true))
			}
		})
	}
}

func TestCurrentStep(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name  string
		steps map[string]jobs.Step
		want  string
	}{
		{"none yet", nil, ""},
		{"one", map[string]jobs.Step{"scrape": {State: jobs.StepReady, Since: now}}, "scrape"},
		{"one done", map[string]jobs.Step{"scrape": {State: jobs.StepDone, Since: now}}, ""},
		{"after one done", map[string]jobs.Step{
			"scrape": {State: jobs.StepDone, Since: now}, "match": {State: jobs.StepClaimed, Since: now.Add(-time.Second)},
		}, "match"},
		{"the later of two", map[string]jobs.Step{
			"a": {State: jobs.StepReady, Since: now}, "b": {State: jobs.StepClaimed, Since: now.Add(time.Second)},
		}, "b"},
		{"two at once", map[string]jobs.Step{
			"b": {State: jobs.StepReady, Since: now}, "a": {State: jobs.StepReady, Since: now},
			"c": {State: jobs.StepReady, Since: now},
		}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 20 { // maps have no order
				if step, _ := currentStep(&jobs.Job{Steps: c.steps}); step != c.want {
					t.Fatalf("step %q, want %q", step, c.want)
				}
			}
		})
	}
}
