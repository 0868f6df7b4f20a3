package e2e

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collect "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/trace"
	"ushuru/tasks"
)

// span is one that a collector got.
type span struct {
	TraceID, SpanID, ParentSpanID string // as hexadecimal digits
	Name                          string
	Service                       string // the name of the process
	Start, End                    uint64
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
		body, err := io.ReadAll(r.Body)
		var message collect.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &message) != nil {
			http.Error(w, "not OTLP", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, part := range message.GetResourceSpans() {
			service := textOf(part.GetResource().GetAttributes(), "service.name")
			for _, scope := range part.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					c.spans = append(c.spans, span{
						TraceID: hex.EncodeToString(s.GetTraceId()), SpanID: hex.EncodeToString(s.GetSpanId()),
						ParentSpanID: hex.EncodeToString(s.GetParentSpanId()), Name: s.GetName(), Service: service,
						Start: s.GetStartTimeUnixNano(), End: s.GetEndTimeUnixNano(),
					})
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *collector) options() trace.Options { return trace.Options{URL: c.URL + "/v1/traces"} }

func textOf(attributes []*common.KeyValue, name string) string {
	for _, attribute := range attributes {
		if attribute.GetKey() == name {
			return attribute.GetValue().GetStringValue()
		}
	}
	return ""
}

// await waits until a trace has spans whose names begin so, each with its parent or that of the
// caller, and returns all its spans by id.
func (c *collector) await(t *testing.T, traceID, caller string, begin ...string) map[string]span {
	t.Helper()
	found := map[string]span{}
	testenv.Await(t, "the spans", func() (any, bool) {
		c.mu.Lock()
		for _, s := range c.spans {
			if s.TraceID == traceID {
				found[s.SpanID] = s
			}
		}
		c.mu.Unlock()
		missing := missingOf(found, caller, begin)
		return fmt.Sprintf("no %q among %v", missing, found), len(missing) == 0
	})
	return found
}

func missingOf(spans map[string]span, caller string, begin []string) (missing []string) {
	for _, name := range begin {
		has := false
		for _, s := range spans {
			has = has || strings.HasPrefix(s.Name, name)
		}
		if !has {
			missing = append(missing, name)
		}
	}
	for _, s := range spans {
		if _, known := spans[s.ParentSpanID]; !known && s.ParentSpanID != caller {
			missing = append(missing, "the parent of "+s.Name)
		}
	}
	return missing
}

// One trace shows all hops of an estimate and of a row of a batch: the request, the queue,
// the steps, Redis, the site, and in a process elsewhere the authority, each as a part of what
// called it.
func TestTraceShowsAllHops(t *testing.T) {
	t.Parallel()
	collected := newCollector(t)
	redis := redistest.Start(t)
	s := newStack(t, redistest.Open(t, redis.URL))
	listener, err := app.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	s.base = "http://" + listener.Addr().String()
	s.start(app.Options{
		API: &app.APIOptions{Listener: listener, WaitMax: 50 * time.Second}, Worker: s.workerOptions(tasks.RoleAny, tasks.RoleAI),
		Traces: collected.options(),
	})
	_, err = clitest.StartProgram(t, "ushuru",
		[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collected.URL, "OTEL_SERVICE_NAME=tanzania"},
		"worker started", "worker", "--roles", "authority", "--redis-url", redistest.URLAs(redis.URL, "authority"),
		"--allow-loopback", "--admin-addr", "off", "--authority-url", s.authority.URL, "--authority-rate", "0")
	must(t, err)
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
		spans := collected.await(t, id, caller, append([]string{"POST /v1/"}, hops...)...)
		for _, span := range spans {
			if strings.HasPrefix(span.Name, "TRA get") && span.Service != "tanzania" ||
				strings.HasPrefix(span.Name, "site") && span.Service != "ushuru-api" {
				t.Errorf("%s is of the process %s", span.Name, span.Service)
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
	collected.await(t, strings.Repeat("f", 32), caller, "POST /v1/estimate")
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
	t.Parallel()
	collected := newCollector(t)
	s := newStack(t, embeddedRedis(t))
	stop := s.start(app.Options{Worker: s.workerOptions(tasks.Roles...), Traces: collected.options()})
	s.post(s.car(0)).estimate(t)
	stop() // which sends what there is
	collected.mu.Lock()
	defer collected.mu.Unlock()
	if len(collected.spans) > 0 {
		t.Errorf("spans without a request that is traced: %v", collected.spans)
	}
}
