package e2e

import (
	"context"
	"testing"

	"ushuru/pkg/testenv"
)

// An attacker who does nothing changes nothing: what the harness itself costs.
func TestAttackThatDoesNothing(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{})
	s.attack(attack{
		name: "none", maxAPI: 64, maxWorker: 128, maxRedis: 16,
		run: func(ctx context.Context, _ *caller) { <-ctx.Done() },
	})
}
