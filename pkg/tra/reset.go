package tra

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"ushuru/pkg/redisx"
)

const (
	keyReset = "tra:reset" // names the last reset of the breakers that an operator requested
	resetTTL = time.Hour
)

// ResetBreakers has every worker that calls the authority close its breaker and end its
// pause after refusals, within WorkerInterval.
func (s *Store) ResetBreakers(ctx context.Context) error {
	if err := s.redis.Set(ctx, keyReset, rand.Text(), resetTTL).Err(); err != nil {
		return fmt.Errorf("tra: reset the breakers: %w", err)
	}
	return nil
}

// WorkerAlive records that a worker that calls the authority is alive. It returns the name
// of the last reset of the breakers, "" for none.
func (s *Store) WorkerAlive(ctx context.Context) (reset string, err error) {
	pipe := s.redis.Pipeline()
	pipe.Set(ctx, keyWorkerAlive, 1, workerTTL)
	last := pipe.Get(ctx, keyReset)
	if err := redisx.Exec(ctx, pipe); err != nil {
		return "", fmt.Errorf("tra: heartbeat: %w", err)
	}
	return last.Val(), nil
}

// Alive records that the worker is alive, and closes its breaker when an operator has
// requested that since the last call.
func (a *Authority) Alive(ctx context.Context) error {
	reset, err := a.store.WorkerAlive(ctx)
	if err != nil {
		return err
	}
	before := a.lastReset.Swap(&reset)
	if before == nil || reset == "" || *before == reset {
		return nil
	}
	a.throttle.Reset()
	a.options.Log.WarnContext(ctx, "the breaker of TRA's calculator was reset by an operator")
	// Without it the status would say until the next call that the authority cannot be asked.
	if err := a.store.redis.HSet(ctx, keyStatus, fieldBreaker, a.throttle.State().String()).Err(); err != nil {
		return fmt.Errorf("tra: record status: %w", err)
	}
	return nil
}
