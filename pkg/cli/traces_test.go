package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/trace"
	"ushuru/tasks"
)

// span is one that a collector got.
type span struct {
	TraceID      string `json:"traceId"`
	SpanID       string `json:"spanId"`
	ParentSpanID string `json:"parentSpanId"`
	Name         string `json:"name"`
	Start        string `json:"startTimeUnixNano"`
	End          string `json:"endTimeUnixNano"`
}

// collector is an OpenTelemetry collector of one test.
type collector struct {
	URL string

	mu    sync.Mutex
	spans []span
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []span `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		if r.URL.Path != "/v1/traces" || json.NewDecoder(r.Body).Decode(&message) != nil {
			http.Error(w, "not OTLP", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range message.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// await waits until a trace has spans whose names begin so, and returns all its spans by id.
func (c *collector) await(t *testing.T, traceID string, begin ...string) map[string]span {
	t.Helper()
	var missing []string
	found := map[string]span{}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		for _, s := range c.spans {
			if s.TraceID == traceID {
				found[s.SpanID] = s
			}
		}
		c.mu.Unlock()
		missing = missing[:0]
		for _, name := range begin {
			has := false
			for _, s := range found {
				has = has || strings.HasPrefix(s.Name, name)
			}
			if !has {
				missing = append(missing, name)
			}
		}
		if len(missing) == 0 {
			return found
		}
	}
	t.Fatalf("no spans %q among %v", missing, found)
	return nil
}

// One trace shows all hops of an estimate and of a row of a batch: the request, the queue,
// the steps, Redis, the site and the authority, each as a part of what called it.
func TestTraceShowsAllHops(t *testing.T) {
	collected := newCollector(t)
	s := newStack(t, embeddedRedis(t))
	listener, err := app.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	s.base = "http://" + listener.Addr().String()
	s.start(app.Options{
		API: &app.APIOptions{Listener: listener, WaitMax: 50 * time.Second}, Worker: s.workerOptions(tasks.Roles...),
		Traces: trace.Options{Endpoint: collected.URL},
	})
	const caller = "00f067aa0ba902b7"
	hops := []string{"queue any", "estimate:scrape", "estimate:match", "estimate:calculate", "redis ", "site GET", "TRA get"}
	for i, request := range []func(traceparent string){
		func(traceparent string) { s.post(s.car(0), "traceparent", traceparent).estimate(t) },
		func(traceparent string) {
			got := s.do(http.MethodPost, "/v1/batches", map[string]any{"items": []any{map[string]string{"url": s.car(1)}}},
				"traceparent", traceparent)
			if got.status != http.StatusCreated {
				t.Fatalf("%d %s", got.status, got.body)
			}
		},
	} {
		id := strings.Repeat(string(rune('a'+i)), 32)
		request("00-" + id + "-" + caller + "-01")
		spans := collected.await(t, id, append([]string{"POST /v1/"}, hops...)...)
		for _, span := range spans {
			if _, known := spans[span.ParentSpanID]; !known && span.ParentSpanID != caller {
				t.Errorf("the parent of %s is not in the trace", span.Name)
			}
			if span.End < span.Start {
				t.Errorf("%s ends before it begins", span.Name)
			}
			if strings.HasPrefix(span.Name, "site") && !strings.HasPrefix(spans[span.ParentSpanID].Name, "estimate:scrape") {
				t.Errorf("%s is a part of %s", span.Name, spans[span.ParentSpanID].Name)
			}
		}
	}
	// A caller who does not record a trace has none here.
	s.post(s.car(0), "traceparent", "00-"+strings.Repeat("e", 32)+"-"+caller+"-00").estimate(t)
	s.post(s.car(0), "traceparent", "00-"+strings.Repeat("f", 32)+"-"+caller+"-01").estimate(t)
	collected.await(t, strings.Repeat("f", 32), "POST /v1/estimate")
	collected.mu.Lock()
	defer collected.mu.Unlock()
	for _, span := range collected.spans {
		if span.TraceID == strings.Repeat("e", 32) {
			t.Errorf("%s is recorded", span.Name)
		}
	}
}

// What polls Redis all the time makes no traces.
func TestNoTraceWithoutARequest(t *testing.T) {
	collected := newCollector(t)
	s := newStack(t, embeddedRedis(t))
	stop := s.start(app.Options{Worker: s.workerOptions(tasks.Roles...), Traces: trace.Options{Endpoint: collected.URL}})
	s.post(s.car(0)).estimate(t)
	stop() // which sends what there is
	collected.mu.Lock()
	defer collected.mu.Unlock()
	if len(collected.spans) > 0 {
		t.Errorf("spans without a request that is traced: %v", collected.spans)
	}
}
