package trace

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func newTracer(t *testing.T, handler http.HandlerFunc, log io.Writer) *Tracer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	tracer, err := New(t.Context(), Options{URL: server.URL + "/v1/traces", Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tracer.Close)
	return tracer
}

func TestTraceparent(t *testing.T) {
	tracer := newTracer(t, func(http.ResponseWriter, *http.Request) {}, io.Discard)
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	const joined, own, none = "joined", "own", "none"
	for text, want := range map[string]string{
		"00-" + trace + "-" + span + "-01":                   joined,
		"00-" + trace + "-" + span + "-00":                   none,
		"01-" + trace + "-" + span + "-01-later":             joined,
		"00-" + trace + "-" + span + "-01-more":              own,
		"ff-" + trace + "-" + span + "-01":                   own,
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":  own,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01": own,
		"00-" + trace + "-" + strings.Repeat("0", 16):        own,
		"": own,
	} {
		ctx, began := tracer.Begin(t.Context(), text, Server, "x")
		got, parent := own, Parent(ctx)
		switch {
		case began == nil && parent == "":
			got = none
		case strings.HasPrefix(parent, "00-"+trace+"-"):
			got = joined
		}
		if got != want || strings.Contains(parent, span) {
			t.Errorf("%q: %s, its parts have %q", text, got, parent)
		}
		if _, part := Start(ctx, Client, "y"); (part == nil) != (want == none) {
			t.Errorf("%q: part %v", text, part)
		}
	}
	if ctx, began := tracer.Join(t.Context(), "", Consumer, "x"); began != nil || Parent(ctx) != "" {
		t.Error("work without a trace has one")
	}
}

// Without a tracer there is no span, and nothing is allocated for one.
func TestNothingWithoutTracer(t *testing.T) {
	tracer, err := New(t.Context(), Options{})
	if tracer != nil || err != nil {
		t.Fatalf("%v %v", tracer, err)
	}
	allocations := testing.AllocsPerRun(100, func() {
		ctx, span := tracer.Begin(context.Background(), "", Server, "x")
		_, part := Start(ctx, Client, "y")
		part.Set("z", 1)
		part.End(nil)
		span.End(nil)
		tracer.Waited(ctx, "", time.Time{}, "w")
	})
	if allocations > 0 || Parent(context.Background()) != "" {
		t.Errorf("%v allocations", allocations)
	}
	tracer.Close()
}

// A collector that fails holds nothing up, is one line of the log, and gets no secrets.
func TestCollectorThatFails(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	var mu sync.Mutex
	var bodies, log strings.Builder
	requests := 0
	tracer := newTracer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		requests++
		bodies.Write(body)
		http.Error(w, "full", http.StatusBadRequest) // one that is not tried again
	}, &log)
	for range 1200 {
		_, span := tracer.Begin(t.Context(), "", Server, "x", "url", "https://user:hunter2@host/", "long", strings.Repeat("x", 2*maxText))
		span.Set("later", "key ush_0123456789abcdefghij")
		span.End(errors.New("key ush_0123456789abcdefghij " + strings.Repeat("long", maxText)))
	}
	tracer.Close()
	mu.Lock()
	defer mu.Unlock()
	body := bodies.String()
	if strings.Contains(body, "hunter2") || strings.Contains(body, "0123456789abcdefghij") ||
		strings.Contains(body, strings.Repeat("x", maxText+1)) || strings.Contains(body, strings.Repeat("long", maxText/4+1)) {
		t.Errorf("a secret or a long text is in %.500s", body)
	}
	if n := strings.Count(log.String(), "traces are not taken"); n != 1 || requests < 2 {
		t.Errorf("%d requests, %d lines: %s", requests, n, log.String())
	}
}
