package tra

import (
	"testing"

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
