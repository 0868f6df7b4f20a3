package trace

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTraceparent(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string][2]bool{ // recorded, valid
		"00-" + trace + "-" + span + "-01":                  {true, true},
		"00-" + trace + "-" + span + "-00":                  {false, true},
		"01-" + trace + "-" + span + "-01-later":            {true, true},
		"00-" + trace + "-" + span + "-01-more":             {},
		"ff-" + trace + "-" + span + "-01":                  {},
		"00-" + strings.ToUpper(trace) + "-" + span + "-01": {},
		"00-" + strings.Repeat("0", 32) + "-" + span + "-1": {},
		"00-" + trace + "-" + strings.Repeat("0", 16):       {},
		"": {},
	} {
		if _, _, recorded, valid := parse(text); recorded != want[0] || valid != want[1] {
			t.Errorf("%q: recorded %v, valid %v", text, recorded, valid)
		}
	}
}

// Without a tracer there is no span, and nothing is allocated for one.
func TestNothingWithoutTracer(t *testing.T) {
	var tracer *Tracer
	allocations := testing.AllocsPerRun(100, func() {
		ctx, span := tracer.Begin(context.Background(), "", Server, "x")
		_, part := Start(ctx, Client, "y")
		part.End(nil)
		span.End(nil)
	})
	if allocations > 0 || Parent(context.Background()) != "" {
		t.Errorf("%v allocations", allocations)
	}
	tracer.Close()
}

// A collector that fails holds nothing up, and secrets do not reach it.
func TestCollectorThatFails(t *testing.T) {
	bodies := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		http.Error(w, "full", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	var log strings.Builder
	tracer := New(Options{Endpoint: server.URL, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 * maxWaiting {
		_, span := tracer.Begin(t.Context(), "", Server, "x", "url", "https://user:hunter2@host/")
		span.End(errors.New("key ush_0123456789abcdefghij"))
		if len(tracer.spans) == maxWaiting {
			break
		}
	}
	var body string
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for got := range bodies {
			body = got
		}
	}()
	tracer.Close()
	server.Close()
	close(bodies)
	<-drained
	if strings.Contains(body, "hunter2") || strings.Contains(body, "0123456789abcdefghij") {
		t.Errorf("a secret is in %.500s", body)
	}
	if n := strings.Count(log.String(), "traces are not taken"); n != 1 {
		t.Errorf("%d lines: %s", n, log.String())
	}
}
