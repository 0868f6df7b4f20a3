package attack

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// One key asks for many pages that never end: they take the places that one key may
// have, and no others.
func TestAttackDrippingPages(t *testing.T) {
	s := start(t, settings{worker: []string{"--fetch-rate", "0"}})
	site := s.serve(drip(time.Second))
	s.attack(attack{
		name: "100 dripping pages",
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 4, func(ctx context.Context, i int) { attacker.submit(ctx, fmt.Sprintf("%s/%d", site, i)) })
		},
	})
}

// One key asks for many cars that TRA's calculator must be asked for.
func TestAttackUnknownQuotes(t *testing.T) {
	s := start(t, settings{})
	unknown := unknownCars(t)
	s.attack(attack{
		name: "100 unknown quotes",
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 4, func(ctx context.Context, i int) {
				attacker.post(ctx, "/v1/quote", unknown(10_000+i), "Prefer", "respond-async")
			})
		},
	})
}
