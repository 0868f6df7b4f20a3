package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// apiKey finds API keys wherever they might turn up in a log line.
var apiKey = regexp.MustCompile(`ush_[0-9A-Za-z]{8,}`)

// secretNames are attributes whose value is never logged.
var secretNames = []string{"password", "secret", "token", "authorization", "api_key", "apikey", "x-api-key", "cookie"}

// newLog makes the process's log: JSON lines, without secrets.
func newLog(w io.Writer, level string) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least, ReplaceAttr: redact}))
}

func redact(_ []string, attr slog.Attr) slog.Attr {
	name := strings.ToLower(attr.Key)
	for _, secret := range secretNames {
		if strings.Contains(name, secret) {
			return slog.String(attr.Key, "[redacted]")
		}
	}
	switch value := attr.Value.Any().(type) {
	case string:
		return slog.String(attr.Key, apiKey.ReplaceAllString(value, "[redacted]"))
	case error:
		return slog.String(attr.Key, apiKey.ReplaceAllString(value.Error(), "[redacted]"))
	}
	return attr
}

// redisLog takes what the Redis client says of itself. What matters comes
// back as an error; the rest is for debugging.
type redisLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l redisLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, values...), "from", "redis client")
}
