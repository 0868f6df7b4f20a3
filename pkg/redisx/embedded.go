//go:build !production

package redisx

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// HasEmbedded reports whether the program has the embedded Redis.
const HasEmbedded = true

const (
	// expiryInterval is how often expired keys are removed.
	expiryInterval = 50 * time.Millisecond
	// maxExpiryShare bounds the time that removing them takes to one part in this
	// many: miniredis walks through all keys under its lock.
	maxExpiryShare = 20
)

// embedded is a miniredis on a loopback port. By itself miniredis lets no key
// expire; expire moves its clock.
type embedded struct {
	server   *miniredis.Miniredis
	password string
	quit     chan struct{}
	done     chan struct{}
}

func startEmbedded() (*embedded, error) {
	e := &embedded{
		server:   miniredis.NewMiniRedis(),
		password: rand.Text(), // other users of the machine can reach the port
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	e.server.RequireAuth(e.password)
	if err := e.server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("redisx: start the embedded Redis: %w", err)
	}
	go e.expire()
	return e, nil
}

// expire moves the clock of the keys' TTL by the time that has passed. A key expires
// up to one interval early or late.
func (e *embedded) expire() {
	defer close(e.done)
	timer := time.NewTimer(expiryInterval)
	defer timer.Stop()
	last := time.Now()
	for {
		select {
		case <-e.quit:
			return
		case <-timer.C:
		}
		now := time.Now()
		e.server.FastForward(now.Sub(last))
		last = now
		timer.Reset(max(expiryInterval, maxExpiryShare*time.Since(now)))
	}
}

func (e *embedded) endpoint() endpoint {
	target := endpoint{name: "the embedded Redis", kind: single}
	target.options.Addrs = []string{e.server.Addr()}
	target.options.Password = e.password
	return target
}

func (e *embedded) stop() {
	close(e.quit)
	<-e.done
	e.server.Close()
}
