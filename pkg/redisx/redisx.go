// Package redisx connects to Redis: one server, Sentinel, Cluster, or an embedded
// server for development. Other packages are given a client and do not know which.
package redisx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
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

const (
	single kind = iota
	sentinel
	cluster
)

// Timeouts for a Redis that may be in another country than the worker. A round trip
// takes 0.2 s then, so these are far above a slow reply and far below the time
// that a caller waits.
const (
	dialTimeout = 2 * time.Second // to make one connection
	ioTimeout   = 3 * time.Second // of one read or write; a context may end it earlier
)

// topologyInterval is how often the client of a cluster asks which server has which
// slots. When a primary dies its replica takes over within seconds; go-redis would
// go on asking the dead server for up to a minute.
const topologyInterval = 2 * time.Second

type kind int

// endpoint is everything that a client is made of.
type endpoint struct {
	name    string // without password
	kind    kind
	options redis.UniversalOptions
}

func (e *endpoint) apply() {
	o := &e.options
	o.DialTimeout = dialTimeout
	o.ReadTimeout = ioTimeout
	o.WriteTimeout = ioTimeout
	o.ContextTimeoutEnabled = true
	// The client retries a failed command, and each retry dials again. Dialling
	// five times inside each retry too would turn 2 s into 40 s.
	o.DialerRetries = 1
	// The name of the library costs each new connection a round trip.
	o.DisableIdentity = true
}

// client returns a new client. It connects with its first command.
func (e *endpoint) client() redis.UniversalClient {
	o := e.options
	// Maintenance notifications exist in Redis Enterprise only. Elsewhere
	// subscribing to them costs each new connection one refused command.
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	var client redis.UniversalClient
	switch e.kind {
	case sentinel:
		client = redis.NewFailoverClient(o.Failover())
	case cluster:
		client = newCluster(o.Cluster())
	case single:
		client = redis.NewClient(o.Simple())
	}
	client.AddHook(bounded{})
	return client
}

// newCluster returns a client that asks for the topology every few seconds, and at
// once when a server cannot be connected to.
func newCluster(o *redis.ClusterOptions) *redis.ClusterClient {
	o.ClusterStateReloadInterval = topologyInterval
	reload := &reloadOnDialError{}
	o.NewClient = func(o *redis.Options) *redis.Client {
		node := redis.NewClient(o)
		node.AddHook(reload)
		return node
	}
	client := redis.NewClusterClient(o)
	reload.cluster.Store(client)
	return client
}

// reloadOnDialError is a hook of the clients of a cluster's servers.
type reloadOnDialError struct {
	cluster atomic.Pointer[redis.ClusterClient]
}

// DialHook implements redis.Hook.
func (h *reloadOnDialError) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil && ctx.Err() == nil {
			if cluster := h.cluster.Load(); cluster != nil {
				cluster.ReloadState(ctx) // in the background, one at a time
			}
		}
		return conn, err
	}
}

// ProcessHook implements redis.Hook.
func (*reloadOnDialError) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (*reloadOnDialError) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

type boundKey struct{}

// Bound returns a context in which every command and every pipeline, with its retries, ends after
// a time, so that no request hangs on a Redis that does not answer.
func Bound(ctx context.Context, each time.Duration) context.Context {
	return context.WithValue(ctx, boundKey{}, each)
}

// bounded is the hook that ends the commands of a context of Bound.
type bounded struct{}

func within(ctx context.Context) (context.Context, context.CancelFunc) {
	if each, ok := ctx.Value(boundKey{}).(time.Duration); ok {
		return context.WithTimeout(ctx, each)
	}
	return ctx, func() {}
}

// DialHook implements redis.Hook.
func (bounded) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (bounded) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		ctx, cancel := within(ctx)
		defer cancel()
		return next(ctx, command)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (bounded) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		ctx, cancel := within(ctx)
		defer cancel()
		return next(ctx, commands)
	}
}
