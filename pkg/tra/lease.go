package tra

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrSyncing means that another sync of the catalogue is at work.
var ErrSyncing = errors.New("tra: another sync is at work")

// errLocked means that another process has the lease.
var errLocked = errors.New("tra: another process is at it")

// A lease is held for as long as its process lives, and leaseTTL after.
const (
	leaseTTL      = 5 * time.Second
	leaseInterval = time.Second
)

// ARGV: token, life in ms; 0 lets go.
var leaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

// lease takes a key for one process and keeps it until release; errLocked when
// another has it.
func (s *Store) lease(ctx context.Context, key string) (release func(), err error) {
	token := rand.Text()
	taken, err := s.redis.SetNX(ctx, key, token, leaseTTL).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: lease: %w", err)
	}
	if !taken {
		return nil, errLocked
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	renew := func(life time.Duration) {
		// A renewal that fails is made good by the next, or the lease is lost.
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
	return func() {
		renew(0)
		cancel()
		<-done
	}, nil
}

// lockSync takes the place of the one sync, and keeps it until release.
func (s *Store) lockSync(ctx context.Context) (release func(), err error) {
	release, err = s.lease(ctx, keySyncing)
	if errors.Is(err, errLocked) {
		return nil, ErrSyncing
	}
	return release, err
}
