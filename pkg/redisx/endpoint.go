package redisx

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

type kind int

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
