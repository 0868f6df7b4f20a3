package redisx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// TestBoundEndsWhatASilentServerDoesNot: commands and pipelines of a bounded context end, each after
// its time, whatever the deadline of the context.
func TestBoundEndsWhatASilentServerDoesNot(t *testing.T) {
	t.Parallel()
	line := redistest.Proxy(t, miniredis.RunT(t).Addr())
	client := redistest.Open(t, line.URL).Client()
	line.Delay(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	ctx = redisx.Bound(ctx, 50*time.Millisecond)
	pipe := client.Pipeline()
	pipe.Get(ctx, "key")
	_, pipelined := pipe.Exec(ctx)
	for name, err := range map[string]error{"command": client.Get(ctx, "key").Err(), "pipeline": pipelined} {
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Errorf("%s: got %v, with the context %v; want that its own time is over", name, err, ctx.Err())
		}
	}
}
