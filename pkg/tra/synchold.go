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

// A sync holds its place for as long as its process lives and syncLife after.
const (
	syncLife  = 5 * time.Second
	syncRenew = time.Second
)

// ARGV: token, life in ms; 0 lets go.
var syncHoldScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

// holdSync takes the place of the one sync, and keeps it until release.
func (s *Store) holdSync(ctx context.Context) (release func(), err error) {
	token := rand.Text()
	taken, err := s.redis.SetNX(ctx, keySyncing, token, syncLife).Result()
	if err != nil {
		return nil, fmt.Errorf("tra: hold sync: %w", err)
	}
	if !taken {
		return nil, ErrSyncing
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	renew := func(life time.Duration) {
		// A renewal that fails is made good by the next, or the place is lost.
		_ = syncHoldScript.Run(ctx, s.redis, []string{keySyncing}, token, life.Milliseconds()).Err()
	}
	go func() {
		defer close(done)
		ticker := time.NewTicker(syncRenew)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				renew(syncLife)
			}
		}
	}()
	return func() {
		renew(0)
		cancel()
		<-done
	}, nil
}
