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

// Timeouts for a Redis that may be in another country than the worker. A round trip
// takes 0.2 s then, so these are far above a slow reply and far below the time
// that a caller waits.
const (
	dialTimeout = 2 * time.Second // to make one connection
	ioTimeout   = 3 * time.Second // of one read or write; a context may end it earlier
)

// endpoint is everything that a client is made of.
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
	// The client retries a failed command, and each retry dials again. Dialling
	// five times inside each retry too would turn 2 s into 40 s.
	o.DialerRetries = 1
}

// client returns a new client. It connects with its first command.
func (e *endpoint) client() redis.UniversalClient {
	o := e.options
	// Maintenance notifications exist in Redis Enterprise only. Elsewhere
	// subscribing to them costs each new connection one refused command.
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
