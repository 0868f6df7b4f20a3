package trace

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"ushuru/pkg/logs"
)

const (
	closeTimeout = 5 * time.Second
	complain     = time.Minute // between two lines about a collector that fails
	maxText      = 300         // of a failure and of an attribute, in bytes
)

// Options of New.
type Options struct {
	// URL is where the collector takes traces, http://host:4318/v1/traces; "" makes no Tracer.
	URL     string
	Service string // the name of the process unless OTEL_SERVICE_NAME says another: ushuru-api
	Version string
	Log     *slog.Logger
}

// LogTo has the SDK log what it does not understand in its environment.
func LogTo(log *slog.Logger) { otel.SetLogger(logr.FromSlogHandler(log.Handler())) }

// Tracer sends spans. A nil Tracer records nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   oteltrace.Tracer
}

// New returns a Tracer, nil without a URL. What the environment (OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_…, OTEL_SPAN_…,
// OTEL_EXPORTER_OTLP_…) says beside it holds.
func New(ctx context.Context, o Options) (*Tracer, error) {
	if o.URL == "" {
		return nil, nil //nolint:nilnil // a nil Tracer is one that records nothing
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.URL))
	if err != nil {
		return nil, fmt.Errorf("trace: exporter: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("trace: resource: %w", err)
	}
	limits := sdk.NewSpanLimits()
	if limits.AttributeValueLengthLimit < 0 {
		limits.AttributeValueLengthLimit = maxText
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithRawSpanLimits(limits),
		sdk.WithBatcher(&complaining{SpanExporter: exporter, log: o.Log}))
	return &Tracer{provider, provider.Tracer(scope)}, nil
}

// Close sends what waits, and ends.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what failed is in the log
}

// complaining is an exporter that logs what fails, once a minute.
type complaining struct {
	sdk.SpanExporter

	log *slog.Logger

	mu   sync.Mutex
	said time.Time
}

// ExportSpans implements sdk.SpanExporter.
func (c *complaining) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.said) >= complain {
		c.said = time.Now()
		c.log.Warn("traces are not taken by the collector", "spans", len(spans), "error", logs.Excerpt([]byte(err.Error())))
	}
	return nil
}

// attributes returns pairs of a name and a string or int without what is empty, and without
// secrets.
func attributes(pairs []any) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, len(pairs)/2) //nolint:mnd // of a pair
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		switch value := pairs[i+1].(type) {
		case string:
			if value != "" {
				list = append(list, attribute.String(name, logs.Redact(value)))
			}
		case int:
			list = append(list, attribute.Int(name, value))
		}
	}
	return list
}
