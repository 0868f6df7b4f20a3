package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"ushuru/pkg/logs"
)

const (
	maxWaiting  = 4096 // spans that wait to be sent; others are lost
	maxSent     = 512  // spans of one request
	sendEvery   = time.Second
	sendTimeout = 5 * time.Second
	complain    = time.Minute // between two lines about a collector that fails
	maxText     = 300         // of a failure, in bytes
)

// Options of New.
type Options struct {
	// Endpoint is the base URL of the collector, http://host:4318; "" makes no Tracer.
	Endpoint string
	Header   http.Header // of the requests to it
	Service  string      // the name of the process: ushuru-api
	Version  string
	Log      *slog.Logger
}

// Tracer sends spans. A nil Tracer records nothing.
type Tracer struct {
	options Options
	url     string
	client  *http.Client
	spans   chan *Span
	stop    chan struct{}
	done    sync.WaitGroup
	once    sync.Once
	said    time.Time
}

// New returns a Tracer, nil without an endpoint.
func New(o Options) *Tracer {
	if o.Endpoint == "" {
		return nil
	}
	t := &Tracer{
		options: o, url: strings.TrimRight(o.Endpoint, "/") + "/v1/traces", client: &http.Client{Transport: &http.Transport{}},
		spans: make(chan *Span, maxWaiting), stop: make(chan struct{}),
	}
	t.done.Go(t.run)
	return t
}

// Close sends what waits, and ends.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	t.once.Do(func() { close(t.stop) })
	t.done.Wait()
	t.client.CloseIdleConnections()
}

// add has a span sent. It never waits: a collector that is slow loses spans, not requests.
func (t *Tracer) add(span *Span) {
	select {
	case t.spans <- span:
	default:
	}
}

func (t *Tracer) run() {
	ticker := time.NewTicker(sendEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			for t.sendSome() {
			}
			return
		case <-ticker.C:
			for t.sendSome() {
			}
		}
	}
}

// sendSome sends a part of what waits, and reports whether there may be more.
func (t *Tracer) sendSome() bool {
	var spans []*Span
	for len(spans) < maxSent {
		select {
		case span := <-t.spans:
			spans = append(spans, span)
			continue
		default:
		}
		break
	}
	if len(spans) == 0 {
		return false
	}
	if err := t.send(spans); err != nil {
		if time.Since(t.said) >= complain {
			t.said = time.Now()
			t.options.Log.Warn("traces are not taken by the collector", "spans", len(spans), "error", err)
		}
		return false
	}
	return len(spans) == maxSent
}

func (t *Tracer) send(spans []*Span) error {
	body, err := json.Marshal(t.message(spans))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(request.Header, t.options.Header)
	request.Header.Set("Content-Type", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, logs.MaxExcerpt))
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("trace: status %d: %s", response.StatusCode, logs.Excerpt(answer))
	}
	return nil
}

// The message of OTLP (opentelemetry-proto, ExportTraceServiceRequest) as JSON.
type (
	message struct {
		Resources []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource resource     `json:"resource"`
		Scopes   []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []spanJSON `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	attribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	spanJSON struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       Kind        `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     status      `json:"status"`
	}
	status struct {
		Code    int    `json:"code,omitempty"` // 2 is an error
		Message string `json:"message,omitempty"`
	}
)

func (t *Tracer) message(spans []*Span) message {
	of := scopeSpans{Scope: scope{"ushuru"}}
	for _, span := range spans {
		out := spanJSON{
			TraceID: span.trace, SpanID: span.id, Parent: span.parent, Name: span.name, Kind: span.kind,
			Start: strconv.FormatInt(span.start.UnixNano(), 10), End: strconv.FormatInt(span.end.UnixNano(), 10),
			Attributes: attributes(span.attrs),
		}
		if span.failure != "" {
			const failed = 2
			out.Status = status{failed, short(logs.Redact(span.failure))}
		}
		of.Spans = append(of.Spans, out)
	}
	about := resource{attributes([]any{"service.name", t.options.Service, "service.version", t.options.Version})}
	return message{[]resourceSpans{{about, []scopeSpans{of}}}}
}

func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxText)], "") }

func attributes(pairs []any) (list []attribute) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		switch value := pairs[i+1].(type) {
		case string:
			if value != "" {
				list = append(list, attribute{name, map[string]any{"stringValue": short(logs.Redact(value))}})
			}
		case int:
			list = append(list, attribute{name, map[string]any{"intValue": strconv.Itoa(value)}})
		}
	}
	return list
}
