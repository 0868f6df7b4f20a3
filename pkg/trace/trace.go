// Package trace records what happens to a request and sends it to a collector: from the API
// through the queue to Redis, sites, the authority and the AI, with the SDK of OpenTelemetry
// (OTLP over HTTP). Without a Tracer nothing is recorded, and a span costs a look at its context.
package trace

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"

	"ushuru/pkg/logs"
)

const scope = "ushuru"

// Kind is the side of a call that a span is on.
type Kind = otel.SpanKind

// The kinds of spans.
const (
	Internal = otel.SpanKindInternal
	Server   = otel.SpanKindServer
	Client   = otel.SpanKindClient
	Consumer = otel.SpanKindConsumer
)

// Span is one part of a trace. Its methods may be called on nil, which records nothing.
type Span struct {
	span otel.Span
}

// Start begins a part of the span of a context; nil when the context has none.
func Start(ctx context.Context, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, ctx, name, otel.WithSpanKind(kind), otel.WithAttributes(attributes(attrs)...))
}

// tracerKey is the key under which a context has the Tracer of its span.
type tracerKey struct{}

// start begins a span as a part of the span of within. When it is not recorded, start returns ctx
// as it is.
func (t *Tracer) start(ctx, within context.Context, name string, options ...otel.SpanStartOption) (context.Context, *Span) {
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
	if !otel.SpanContextFromContext(ctx).IsSampled() {
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
	return t.begin(ctx, parent, name, otel.WithSpanKind(kind), otel.WithAttributes(attributes(attrs)...))
}

func (t *Tracer) begin(ctx context.Context, parent, name string, options ...otel.SpanStartOption) (context.Context, *Span) {
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
	_, span := t.begin(ctx, parent, name, otel.WithSpanKind(Consumer), otel.WithTimestamp(since),
		otel.WithAttributes(attributes(attrs)...))
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
