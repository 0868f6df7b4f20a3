// Package redisx connects to Redis: one server, Sentinel, Cluster, or an embedded
// server for development. Other packages are given a client and do not know which.
package redisx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// ErrEmbeddedRefused means that no URL was given where the embedded Redis, which
// loses its data at the end of the process, is not allowed.
var ErrEmbeddedRefused = errors.New("redisx: no Redis URL is set, and the embedded Redis is not allowed here")

// Options say how to connect. The zero value of every field but URL is a usable
// default.
type Options struct {
	// URL is the URL of the server in a form that Open lists. Empty selects the
	// embedded Redis.
	URL string

	// AllowEmbedded permits the embedded Redis when URL is empty.
	AllowEmbedded bool

	// AllowLoading has Open return while the server loads its data and answers every
	// other command with LOADING; see Loading.
	AllowLoading bool

	// RefuseExposed has Open return ErrExposed for a connection that leaves this machine
	// without TLS and without a password.
	RefuseExposed bool
}

// Conn is a connection to Redis.
type Conn struct {
	endpoint endpoint
	client   redis.UniversalClient
	embedded *embedded // nil unless it runs inside this process
	close    func() error
}

// Open connects and returns when the server has answered and its version is new
// enough; otherwise it returns ErrTooOld. The forms of the URL are those of
// asynq.ParseRedisURI and two more for Cluster; a doubled s selects TLS:
//
//	redis://[user:password@]host[:port][/db]
//	rediss://…
//	redis-socket://[user:password@]/path/of/socket[?db=n]
//	redis-sentinel://[user:password@]host[:port],host[:port]…[/db]?master=name
//	rediss-sentinel://…
//	redis-cluster://[user:password@]host[:port],host[:port]…
//	rediss-cluster://…
//
// As in asynq, user and password of a Sentinel URL are those of the Sentinels; the
// parameters username and password are those of the servers behind them.
//
// No error contains a password.
func Open(ctx context.Context, options Options) (*Conn, error) {
	conn, err := dial(options)
	if err != nil {
		return nil, err
	}
	if err := conn.check(ctx); err != nil && (!options.AllowLoading || !IsLoading(err)) {
		if _, reply := errors.AsType[redis.Error](err); !reply {
			err = cmp.Or(conn.endpoint.wrongScheme(ctx), err)
		}
		return nil, errors.Join(fmt.Errorf("redisx: connect to %s: %w", conn, err), conn.Close())
	}
	return conn, nil
}

func dial(options Options) (*Conn, error) {
	if options.URL == "" {
		return dialEmbedded(options)
	}
	target, err := parseURL(options.URL)
	if err != nil {
		return nil, fmt.Errorf("redisx: Redis URL %s: %w", Redact(options.URL), err)
	}
	if options.RefuseExposed && target.exposed() {
		return nil, fmt.Errorf("%s: %w", target.name, ErrExposed)
	}
	target.apply()
	client := target.client()
	return &Conn{endpoint: target, client: client, close: sync.OnceValue(client.Close)}, nil
}

func dialEmbedded(options Options) (*Conn, error) {
	if !options.AllowEmbedded {
		return nil, ErrEmbeddedRefused
	}
	server, err := startEmbedded()
	if err != nil {
		return nil, err
	}
	target := server.endpoint()
	target.apply()
	client := target.client()
	return &Conn{
		endpoint: target, client: client, embedded: server,
		close: sync.OnceValue(func() error {
			err := client.Close()
			server.stop()
			return err
		}),
	}, nil
}

// Client returns the client that all packages share. Close closes it.
func (c *Conn) Client() redis.UniversalClient { return c.client }

// AsynqOpt returns the connection option of asynq and asynqmon. They make their own clients:
// closing one of these does not close Client.
func (c *Conn) AsynqOpt() asynq.RedisConnOpt { return asynqOpt{c.endpoint} }

// Embedded reports whether this Redis runs inside the process and loses its data at
// Close.
func (c *Conn) Embedded() bool { return c.embedded != nil }

// String returns the name of the server for a log, without a password.
func (c *Conn) String() string { return c.endpoint.name }

// Close closes the client and stops the embedded Redis. A second call does nothing
// and returns the same error.
func (c *Conn) Close() error { return c.close() }

type asynqOpt struct{ endpoint endpoint }

// MakeRedisClient returns a new client; it implements asynq.RedisConnOpt.
func (o asynqOpt) MakeRedisClient() any { return o.endpoint.client() }
