// Package trace records what happens to a request and sends it to a collector: from the API
// through the queue to Redis, sites, the authority and the AI, with the SDK of OpenTelemetry
// (OTLP over HTTP). Without a Tracer nothing is recorded, and a span costs a look at its context.
package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"ushuru/pkg/logs"
)

const scope = "ushuru"

const (
	closeTimeout = 5 * time.Second
	complain     = time.Minute // between two lines about a collector that fails
	maxText      = 300         // of a failure and of an attribute, in bytes
)

// Kind is the side of a call that a span is on.
type Kind = oteltrace.SpanKind

// The kinds of spans.
const (
	Internal = oteltrace.SpanKindInternal
	Server   = oteltrace.SpanKindServer
	Client   = oteltrace.SpanKindClient
	Consumer = oteltrace.SpanKindConsumer
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

// Span is one part of a trace. Its methods may be called on nil, which records nothing.
type Span struct {
	span oteltrace.Span
}

// Start begins a part of the span of a context; nil when the context has none.
func Start(ctx context.Context, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, ctx, name, oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(attributes(attrs)...))
}

// tracerKey is the key under which a context has the Tracer of its span.
type tracerKey struct{}

// start begins a span as a part of the span of within. When it is not recorded, start returns ctx
// as it is.
func (t *Tracer) start(ctx, within context.Context, name string, options ...oteltrace.SpanStartOption) (context.Context, *Span) {
	with, span := t.tracer.Start(within, name, options...)
	if !span.IsRecording() {
		return ctx, nil
	}
	return with, &Span{span}
}

// traceparent is the header and the field that carry the span of a context (W3C Trace Context).
const traceparent = "traceparent"

// Parent returns the traceparent of the span of a context; "" when it has none.
func Parent(ctx context.Context) string {
	if !oteltrace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[traceparent]
}

// Begin begins the first span of a trace in this process: a part of the one that a traceparent
// names, or, if that is not valid, a trace of its own. A caller who does not record its
// trace gets no span, and so does a nil Tracer.
func (t *Tracer) Begin(ctx context.Context, parent string, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return t.begin(ctx, parent, name, oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(attributes(attrs)...))
}

func (t *Tracer) begin(ctx context.Context, parent, name string, options ...oteltrace.SpanStartOption) (context.Context, *Span) {
	within := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent})
	with, span := t.start(ctx, within, name, options...)
	if span != nil {
		with = context.WithValue(with, tracerKey{}, t)
	}
	return with, span
}

// Join is Begin for work that only has a trace when its request had one.
func (t *Tracer) Join(ctx context.Context, parent string, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	if parent == "" {
		return ctx, nil
	}
	return t.Begin(ctx, parent, kind, name, attrs...)
}

// Waited records a wait that is over, in the trace that a request had.
func (t *Tracer) Waited(ctx context.Context, parent string, since time.Time, name string, attrs ...any) {
	if t == nil || parent == "" {
		return
	}
	now := time.Now()
	if since.After(now) {
		since = now // the clock of another machine
	}
	_, span := t.begin(ctx, parent, name, oteltrace.WithSpanKind(Consumer), oteltrace.WithTimestamp(since),
		oteltrace.WithAttributes(attributes(attrs)...))
	span.End(nil)
}

// Set adds attributes, pairs of a name and a string or int.
func (s *Span) Set(attrs ...any) {
	if s != nil {
		s.span.SetAttributes(attributes(attrs)...)
	}
}

// Rename gives the span its final name.
func (s *Span) Rename(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// End ends the span, with the error that it ended with.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		failure := logs.Redact(err.Error())
		s.span.SetStatus(codes.Error, strings.ToValidUTF8(failure[:min(len(failure), maxText)], ""))
	}
	s.span.End()
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

// Redis is a hook of a client that records the commands of spans. The arguments of
// commands are not recorded.
type Redis struct{}

// DialHook implements redis.Hook.
func (Redis) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (Redis) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		_, span := Start(ctx, Client, "redis "+command.Name(), "db.system", "redis")
		err := next(ctx, command)
		span.End(failureOf(err))
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (Redis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		_, span := Start(ctx, Client, "redis pipeline", "db.system", "redis", "commands", len(commands))
		err := next(ctx, commands)
		span.End(failureOf(err))
		return err
	}
}

// failureOf returns the error of a command that failed. A key that does not exist is an
// answer.
func failureOf(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}
