package tra

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx/redistest"
)

// A connection that breaks after Redis has run the script loses the reply, and the
// client sends the script again.
func TestLeaseIsAcquiredAgainByTheSameCall(t *testing.T) {
	t.Parallel()
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	acquire := func(token string) int64 {
		t.Helper()
		keys := []string{"tra:answer:a", leaseKey("tra:answer:a")}
		reply, err := scriptAcquire.Run(t.Context(), client, keys, token, 5000, 0, 0).Slice()
		if err != nil || len(reply) != 2 {
			t.Fatalf("%v %v", reply, err)
		}
		taken, _ := reply[1].(int64)
		return taken
	}
	if first, again, other := acquire("token"), acquire("token"), acquire("other"); first != 1 || again != 1 || other != 0 {
		t.Errorf("acquired: %d, by the same call %d, by another process %d", first, again, other)
	}
}

// TestAFreshAnswerThatCannotBeReadIsAskedAgain: nobody would get its lease as long as it seems fresh.
func TestAFreshAnswerThatCannotBeReadIsAskedAgain(t *testing.T) {
	t.Parallel()
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	store := NewStore(client, StoreOptions{Now: time.Now})
	const key = "tra:answer:a"
	value, err := encodeStored(stored[[]int]{At: time.Now(), FreshUntil: time.Now().Add(time.Hour), Answer: []int{2015}})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for range 2 {
		answer, held, err := acquire[[]string](t.Context(), store, key)
		_, _ = fmt.Fprintf(&got, "found %t, lease %t, %v; ", answer.found, held != nil, err)
		if held != nil {
			held.release()
		}
	}
	if want := "found false, lease false, <nil>; found false, lease true, <nil>; "; got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}

func TestQuarterEnd(t *testing.T) {
	t.Parallel()
	for day, want := range map[string]string{
		"2025-11-15T12:00:00Z": "2026-01-01T00:00:00+03:00",
		"2025-12-31T20:59:59Z": "2026-01-01T00:00:00+03:00",
		"2025-12-31T21:00:00Z": "2026-04-01T00:00:00+03:00", // midnight in Dar es Salaam
		"2026-03-31T12:00:00Z": "2026-04-01T00:00:00+03:00",
		"2026-06-30T23:00:00Z": "2026-10-01T00:00:00+03:00",
		"2026-09-30T00:00:00Z": "2026-10-01T00:00:00+03:00",
	} {
		at, _ := time.Parse(time.RFC3339, day)
		if got := QuarterEnd(at).Format(time.RFC3339); got != want {
			t.Errorf("QuarterEnd(%s) = %s, want %s", day, got, want)
		}
	}
}
