package redisx

import (
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

// Timeouts for a Redis that may stand in another country than the worker: a
// round trip takes 0.2 s there, so these are far above a slow answer and far
// below the patience of a caller.
const (
	dialTimeout = 2 * time.Second // to make one connection
	ioTimeout   = 3 * time.Second // of one read or write; a context that ends earlier wins
)

// endpoint is everything that it takes to make a client.
type endpoint struct {
	name    string // without password
	kind    kind
	options redis.UniversalOptions
}

func (e *endpoint) apply(options Options) {
	o := &e.options
	o.PoolSize = options.PoolSize
	o.DialTimeout = dialTimeout
	o.ReadTimeout = ioTimeout
	o.WriteTimeout = ioTimeout
	o.ContextTimeoutEnabled = true
	// A command that fails is tried again by the client, and that dials again;
	// dialling five times inside each try as well would turn 2 s into 40 s.
	o.DialerRetries = 1
}

// client makes a new client. Nothing is dialled before the first command.
func (e *endpoint) client() redis.UniversalClient {
	o := e.options
	// Handover notices exist in Redis Enterprise only; elsewhere asking for
	// them costs each new connection one refused command.
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch e.kind {
	case sentinel:
		return redis.NewFailoverClient(o.Failover())
	case cluster:
		return redis.NewClusterClient(o.Cluster())
	case single:
	}
	return redis.NewClient(o.Simple())
}
