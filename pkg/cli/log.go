package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"ushuru/pkg/logs"
)

// newLog returns the log of a command, as JSON lines.
func newLog(w io.Writer, level string) *slog.Logger { return logs.New(w, logs.Options{Level: level}) }

// redisLog logs the messages of the Redis client for debugging: its errors are
// returned to the callers as well.
type redisLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l redisLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, values...), "from", "redis client")
}
