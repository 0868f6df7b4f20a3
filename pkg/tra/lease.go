package tra

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrSyncing means that another sync of the catalogue is running.
var ErrSyncing = errors.New("tra: another sync is running")

// A lease expires leaseTTL after its process has died.
const (
	leaseTTL      = 5 * time.Second
	leaseInterval = 2 * time.Second
)

// ARGV: token, life in ms; 0 lets go.
var leaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

// heldLease is a lease that this process has and renews.
type heldLease struct {
	token   string
	stop    func() // ends the renewals: the lease expires, unless it was released
	release func()
}

// lockSync acquires the lease of the one sync and renews it until release. It returns
// ErrSyncing when another process has it.
func (s *Store) lockSync(ctx context.Context) (release func(), err error) {
	token := rand.Text()
	taken, err := s.redis.SetNX(ctx, keySyncing, token, leaseTTL).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: lease: %w", err)
	}
	if !taken {
		return nil, ErrSyncing
	}
	return s.hold(ctx, keySyncing, token).release, nil
}

// hold renews a lease that was just acquired.
func (s *Store) hold(ctx context.Context, key, token string) *heldLease {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	renew := func(life time.Duration) {
		// The next renewal follows soon; without it the lease expires.
		_ = leaseScript.Run(ctx, s.redis, []string{key}, token, life.Milliseconds()).Err()
	}
	go func() {
		defer close(done)
		ticker := time.NewTicker(leaseInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				renew(leaseTTL)
			}
		}
	}()
	stop := func() {
		cancel()
		<-done
	}
	return &heldLease{token, stop, func() {
		renew(0)
		stop()
	}}
}
