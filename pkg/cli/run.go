package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/logs"
	"ushuru/pkg/redisx"
)

// run is one run of the program: what its commands share.
type run struct {
	Streams
	ctx     context.Context //nolint:containedctx // the life of the process, not of a call
	common  common
	log     *slog.Logger
	cleanup app.Cleanup
	unknown []string // sentences about variables that look like settings and are none
}

var errNoRedis = console.Usage("set REDIS_URL to the address of a Redis server, for example redis://localhost:6379")

// connect connects; embedded permits the Redis inside the process, loading a Redis that does not serve yet.
func (r *run) connect(config service.Redis, embedded, loading bool) (*redisx.Conn, error) {
	conn, err := redisx.Open(r.ctx, redisx.Options{
		URL: string(config.RedisURL), AllowEmbedded: embedded && !r.common.production(),
		AllowLoading: loading, RefuseExposed: r.common.production(),
	})
	if errors.Is(err, redisx.ErrEmbeddedRefused) {
		return nil, errNoRedis
	}
	if errors.Is(err, redisx.ErrExposed) {
		return nil, fmt.Errorf("%w in production: put one into REDIS_URL (redis://user:password@host:6379) or use rediss://", err)
	}
	if err != nil {
		return nil, err
	}
	if conn.Exposed() {
		r.log.Warn("Redis on another host has neither password nor TLS: everybody in the network can read and change everything")
	}
	r.cleanup.Add(func() { _ = conn.Close() })
	for _, warning := range conn.Warnings(r.ctx) {
		r.log.Warn(warning)
	}
	return conn, nil
}

// newLog returns the log of a command, as JSON lines.
func newLog(w io.Writer, level string) *slog.Logger { return logs.New(w, logs.Options{Level: level}) }

// redisLog logs the messages of the Redis client for debugging: its errors are
// returned to the callers as well.
type redisLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l redisLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, values...), "from", "redis client")
}
