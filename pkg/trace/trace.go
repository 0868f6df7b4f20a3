// Package trace records what happens to a request, from the API through the queue to Redis,
// sites, the authority and the AI, and sends it to an OpenTelemetry collector (OTLP over HTTP,
// as JSON). Without a Tracer nothing is recorded, and a span costs a look at its context.
//
// It is not the SDK of OpenTelemetry: that and its exporter bring gRPC and thirty modules,
// for what is a list of spans as JSON.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"
)

// Kind is the side of a call that a span is on, by its number in OTLP.
type Kind int

// The kinds of spans.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
	Consumer Kind = 5
)

// Span is one part of a trace. Its methods may be called on nil, which records nothing.
type Span struct {
	tracer     *Tracer
	trace, id  string // as hexadecimal digits
	parent     string // "" for the first
	name       string
	kind       Kind
	start, end time.Time
	attrs      []any // pairs of a name and a string or int
	failure    string
}

type spanKey struct{}

func spanOf(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// Start begins a part of the span of a context; nil when the context has none.
func Start(ctx context.Context, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	parent := spanOf(ctx)
	if parent == nil {
		return ctx, nil
	}
	return parent.tracer.begin(ctx, parent.trace, parent.id, kind, name, attrs)
}

// Parent returns the W3C traceparent of the span of a context; "" when it has none.
func Parent(ctx context.Context) string {
	span := spanOf(ctx)
	if span == nil {
		return ""
	}
	return "00-" + span.trace + "-" + span.id + "-01"
}

// Begin begins the first span of a trace in this process: a part of the one that a traceparent
// names, or, if that is not valid, a trace of its own. A caller who does not record its
// trace gets no span, and so does a nil Tracer.
func (t *Tracer) Begin(ctx context.Context, traceparent string, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	trace, parent, recorded, valid := parse(traceparent)
	switch {
	case !valid:
		trace, parent = newID(traceBytes), ""
	case !recorded:
		return ctx, nil
	}
	return t.begin(ctx, trace, parent, kind, name, attrs)
}

// Join is Begin for work that only has a trace when its request had one.
func (t *Tracer) Join(ctx context.Context, traceparent string, kind Kind, name string, attrs ...any) (context.Context, *Span) {
	if traceparent == "" {
		return ctx, nil
	}
	return t.Begin(ctx, traceparent, kind, name, attrs...)
}

func (t *Tracer) begin(ctx context.Context, trace, parent string, kind Kind, name string, attrs []any) (context.Context, *Span) {
	span := &Span{
		tracer: t, trace: trace, id: newID(spanBytes), parent: parent, kind: kind, name: name, start: time.Now(), attrs: attrs,
	}
	return context.WithValue(ctx, spanKey{}, span), span
}

// The lengths of ids in bytes.
const (
	traceBytes = 16
	spanBytes  = 8
)

func newID(length int) string {
	id := make([]byte, length)
	_, _ = rand.Read(id) // never returns an error
	return hex.EncodeToString(id)
}

// parse reads a traceparent (W3C Trace Context, 3.2).
func parse(text string) (trace, parent string, recorded, valid bool) {
	parts := strings.Split(text, "-")
	const fields = 4
	if len(parts) < fields || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != fields {
		return "", "", false, false
	}
	flags, err := hex.DecodeString(parts[3])
	if !isID(parts[1], traceBytes) || !isID(parts[2], spanBytes) || err != nil || len(flags) != 1 {
		return "", "", false, false
	}
	return parts[1], parts[2], flags[0]&1 == 1, true
}

func isID(text string, length int) bool {
	id, err := hex.DecodeString(text)
	return err == nil && len(id) == length && strings.ToLower(text) == text && strings.Trim(text, "0") != ""
}

// Set adds attributes, pairs of a name and a string or int.
func (s *Span) Set(attrs ...any) {
	if s != nil {
		s.attrs = append(s.attrs, attrs...)
	}
}

// Rename gives the span its final name.
func (s *Span) Rename(name string) {
	if s != nil {
		s.name = name
	}
}

// Since moves the beginning of a span back, for what has begun before it could be recorded.
func (s *Span) Since(start time.Time) {
	if s != nil && start.Before(s.start) {
		s.start = start
	}
}

// End ends the span, with the error that it ended with, and sends it.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	s.end = time.Now()
	if err != nil {
		s.failure = err.Error()
	}
	s.tracer.add(s)
}
