// Package redisx connects to Redis: one server, Sentinel, Cluster, or one that
// runs inside the process for a first look. Everybody else gets a client and
// need not know which.
package redisx

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// ErrEmbeddedRefused means that no URL was given where the embedded Redis,
// which keeps nothing, is not allowed.
var ErrEmbeddedRefused = errors.New("redisx: no Redis URL is set, and the embedded Redis is not allowed here")

// Options says how to connect. The zero value of each field but URL is a
// usable default.
type Options struct {
	// URL names the server; the forms are listed at Open. Empty asks for the
	// embedded Redis.
	URL string

	// AllowEmbedded permits the embedded Redis when URL is empty.
	AllowEmbedded bool

	// PoolSize is the most connections to one server that one client holds;
	// 0 is ten for each CPU. Every client made by AsynqOpt has a pool of its
	// own.
	PoolSize int
}

// Conn is a connection to Redis, of whatever kind.
type Conn struct {
	endpoint endpoint
	client   redis.UniversalClient
	embedded *embedded // nil unless it runs inside this process
	close    func() error
}

// Open connects and returns once the server has answered and has shown that
// it is new enough (ErrTooOld otherwise). The forms of the URL are those of
// asynq.ParseRedisURI and two more for Cluster; a doubled s asks for TLS:
//
//	redis://[user:password@]host[:port][/db]
//	rediss://…
//	redis-socket://[user:password@]/path/of/socket[?db=n]
//	redis-sentinel://[user:password@]host[:port],host[:port]…[/db]?master=name
//	rediss-sentinel://…
//	redis-cluster://[user:password@]host[:port],host[:port]…
//	rediss-cluster://…
//
// As in asynq, user and password of a Sentinel URL are those of the Sentinels;
// the queries username and password are those of the servers behind them.
//
// No error holds a password.
func Open(ctx context.Context, options Options) (*Conn, error) {
	conn, err := dial(options)
	if err != nil {
		return nil, err
	}
	if err := conn.check(ctx); err != nil {
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
	target.apply(options)
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
	target.apply(options)
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

// Client returns the client that everybody shares. Close closes it.
func (c *Conn) Client() redis.UniversalClient { return c.client }

// AsynqOpt returns what asynq and asynqmon take. Each client they make of it
// is theirs alone: they close it, and Client lives on.
func (c *Conn) AsynqOpt() asynq.RedisConnOpt { return asynqOpt{c.endpoint} }

// Embedded reports whether this Redis runs inside the process and keeps
// nothing after Close.
func (c *Conn) Embedded() bool { return c.embedded != nil }

// String names the server for a log, without a password.
func (c *Conn) String() string { return c.endpoint.name }

// Close closes the client, and stops the embedded Redis. A second call does
// nothing and returns the same error.
func (c *Conn) Close() error { return c.close() }

type asynqOpt struct{ endpoint endpoint }

// MakeRedisClient returns a new client; it implements asynq.RedisConnOpt.
func (o asynqOpt) MakeRedisClient() any { return o.endpoint.client() }
