package links

import (
	"fmt"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// The account of links is right on every Redis: of what is written twice, what grows, what was
// pushed out before it was shown, and what has expired.
func TestLinksAreAccountedFor(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		l := Store{Redis: conn.Client(), Room: Room{All: 1 << 20, OfNetwork: 100_000}}
		sum := func(want int64) {
			t.Helper()
			if got, err := l.Redis.Get(t.Context(), KeyAccount+":bytes").Int64(); err != nil || got != want {
				t.Errorf("got %d bytes, %v, want %d", got, err, want)
			}
		}
		keep := func(network, token string, size int, already, want bool) {
			t.Helper()
			if got, err := l.keep(t.Context(), network, token, size, already); err != nil || got != want {
				t.Errorf("%s of %s: got %t, %v, want %t", token, network, got, err, want)
			}
		}
		keep("a", "1", 1000, false, true)
		keep("a", "1", 3000, true, true)
		sum(3000)
		keep("a", "2", 500, true, false)
		keep("b", "3", 500, false, true)
		sum(3500)
		keep("a", "4", 99_000, false, true)
		keep("a", "1", 4000, true, false)
		sum(99_500)
		old := fmt.Sprintf("700 %d", time.Now().Add(-ttl).UnixMilli())
		if err := l.Redis.HSet(t.Context(), KeyAccount+":b", "5", old).Err(); err != nil {
			t.Fatal(err)
		}
		keep("b", "6", 100, false, true)
		sum(99_600)
		// All links of a network have expired with their account.
		if err := l.Redis.Del(t.Context(), KeyAccount+":a").Err(); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			keep("b", "6", 100, false, true)
		}
		sum(600)
	})
}
