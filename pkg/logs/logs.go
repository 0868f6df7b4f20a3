// Package logs makes the log of a process: what every line of one request or one step has
// (With), one unit for durations, no secrets, clean excerpts of what strangers answer, and
// an outage of Redis as a few lines in place of thousands. Times are those of Dar es Salaam.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/localtime"
)

// Options of New. The zero value logs JSON lines from INFO on.
type Options struct {
	Level string // debug, info, warn or error
	Text  bool   // lines for a terminal, in place of JSON
}

// New returns the log of a process. A duration is logged in milliseconds, under its name
// with the ending _ms; values whose name or form says that they are secret are hidden.
func New(w io.Writer, o Options) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.Level)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: clean}
	if o.Text {
		return slog.New(&handler{slog.NewTextHandler(w, options)})
	}
	return slog.New(&handler{slog.NewJSONHandler(w, options)})
}

// Secret matches API keys, and credentials in headers and URLs, anywhere in a text.
var secret = regexp.MustCompile(`ush_[0-9A-Za-z]{8,}|whsec_[0-9A-Za-z+/=]{8,}|(?i:bearer|basic)\s+[0-9A-Za-z._~+/=-]{8,}|` +
	`sk-[0-9A-Za-z_-]{8,}|://[^\s/@:]*:[^\s/@]+@`)

// secretNames are attributes whose value is never logged.
var secretNames = []string{"password", "secret", "token", "authorization", "api_key", "apikey", "x-api-key", "cookie"}

const redacted = "[redacted]"

// query matches a URL or a path anywhere in a text, also in one of net/http's errors and in
// what a site answered, with its query or fragment. What callers and sites put there lets
// its holder in.
var query = regexp.MustCompile(`(\B/[^\s"'<>\\?#]*)[?#][^\s"'<>\\]*|\?[\w.%~-]+=[^\s"'<>\\]*`)

// Redact removes the queries of URLs from a text, and hides what looks like a secret. It is
// the one function through which URLs and errors come into logs, traces and the records of
// tasks.
func Redact(text string) string {
	text = query.ReplaceAllString(text, "$1")
	return secret.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "://") {
			return "://" + redacted + "@"
		}
		return redacted
	})
}

// clean hides secrets and gives durations their unit.
func clean(_ []string, attr slog.Attr) slog.Attr {
	name := strings.ToLower(attr.Key)
	if slices.ContainsFunc(secretNames, func(secret string) bool { return strings.Contains(name, secret) }) {
		return slog.String(attr.Key, redacted)
	}
	switch value := attr.Value.Any().(type) {
	case time.Time:
		return slog.Time(attr.Key, value.In(localtime.Zone))
	case time.Duration:
		const digits = 1000 // after the point of a millisecond, three
		return slog.Float64(strings.TrimSuffix(attr.Key, "_ms")+"_ms", math.Round(value.Seconds()*1e3*digits)/digits)
	case string:
		return slog.String(attr.Key, Redact(value))
	case error:
		return slog.String(attr.Key, Redact(value.Error()))
	case []string:
		return slog.String(attr.Key, Redact(strings.Join(value, " ")))
	case fmt.Stringer:
		if attr.Value.Kind() == slog.KindAny {
			return slog.String(attr.Key, Redact(value.String()))
		}
	}
	return attr
}

// MaxExcerpt is the length of an excerpt in bytes.
const MaxExcerpt = 200

// Excerpt returns the first bytes of what a stranger answered, on one line, without
// control characters and without what looks like a secret.
func Excerpt(data []byte) string {
	const margin = 2 // a secret at the end is hidden before it is cut
	text := strings.ToValidUTF8(string(data[:min(len(data), margin*MaxExcerpt)]), "\ufffd")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' ||
			r >= '\u2066' && r <= '\u2069' || r == '\ufeff' {
			return ' '
		}
		return r
	}, text)
	text = Redact(strings.Join(strings.Fields(text), " "))
	if len(text) > MaxExcerpt {
		text = strings.ToValidUTF8(text[:MaxExcerpt], "")
	}
	return text
}

type attrsKey struct{}

// With returns a context whose log lines have further attributes, pairs of a name and a
// value. An empty value is left out.
func With(ctx context.Context, pairs ...any) context.Context {
	attrs := slices.Clip(attrsOf(ctx))
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		if pairs[i+1] != "" {
			attrs = append(attrs, slog.Any(name, pairs[i+1]))
		}
	}
	return context.WithValue(ctx, attrsKey{}, attrs)
}

func attrsOf(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return attrs
}

// handler adds the attributes of the context.
type handler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	attrs := attrsOf(ctx)
	if len(attrs) == 0 {
		return h.Handler.Handle(ctx, record)
	}
	own := map[string]bool{}
	record.Attrs(func(attr slog.Attr) bool {
		own[attr.Key] = true
		return true
	})
	record = record.Clone()
	for _, attr := range attrs {
		if !own[attr.Key] {
			record.AddAttrs(attr)
		}
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler { return &handler{h.Handler.WithGroup(name)} }
