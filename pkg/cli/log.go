package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// apiKey matches API keys anywhere in a log line.
var apiKey = regexp.MustCompile(`ush_[0-9A-Za-z]{8,}`)

// secretNames are attributes whose value is never logged.
var secretNames = []string{"password", "secret", "token", "authorization", "api_key", "apikey", "x-api-key", "cookie"}

// newLog returns the log of the process: JSON lines without secrets.
func newLog(w io.Writer, level string) *slog.Logger {
	var minLevel slog.Level
	if err := minLevel.UnmarshalText([]byte(level)); err != nil {
		minLevel = slog.LevelInfo
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: minLevel, ReplaceAttr: redact}))
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

// redisLog logs the messages of the Redis client for debugging: its errors are
// returned to the callers as well.
type redisLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l redisLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, values...), "from", "redis client")
}
