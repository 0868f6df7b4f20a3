package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
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

// redis connects; embedded permits the Redis inside the process.
func (r *run) redis(config redisConfig, embedded bool) (*redisx.Conn, error) {
	return r.connect(config, embedded, false)
}

// session is what the commands of an operator need.
func (r *run) session(c *console.Console) *service.Session {
	return &service.Session{
		Console: c, Log: r.log, Production: r.common.production(),
		Connect: func(config service.Redis) (*redisx.Conn, error) { return r.redis(config, false) },
	}
}

// connect connects; loading permits a Redis that does not serve yet.
func (r *run) connect(config redisConfig, embedded, loading bool) (*redisx.Conn, error) {
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
