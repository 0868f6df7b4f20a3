package tra_test

import (
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
)

func TestOutages(t *testing.T) {
	const stop = 11 * time.Second
	for name, c := range map[string]struct {
		faults tratest.Faults
		calls  int
		reason string
	}{
		"answered":           {tratest.Faults{}, 1, ""},
		"refused":            {tratest.Faults{RefuseRegion: true}, 1, "refused"},
		"one failure":        {tratest.Faults{Status: 503}, 1, ""},
		"the breaker opens":  {tratest.Faults{Status: 503}, 3, "unavailable"},
		"unreadable answers": {tratest.Faults{Status: 404}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
				f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{BreakerFailures: 3, BreakerTimeout: time.Hour})
				if _, err := f.Makes(t.Context()); err != nil {
					t.Fatal(err)
				}
				f.server.SetFaults(c.faults)
				f.clock.now = f.clock.now.Add(stop)
				for range c.calls {
					_, _ = f.Makes(t.Context())
				}
				status, err := f.store.Status(t.Context())
				if err != nil || status.Reason != c.reason || (status.Message == "") != (c.reason == "") ||
					c.reason != "" && status.State != tra.Down {
					t.Errorf("%+v, %v; want %q", status, err, c.reason)
				}
			})
		})
	}
}

func TestAMissingWorkerIsAnOutage(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		if _, err := f.Makes(t.Context()); err != nil {
			t.Fatal(err)
		}
		life, err := conn.Client().TTL(t.Context(), "tra:worker").Result()
		if err != nil || life <= 0 || life > 15*time.Second {
			t.Errorf("the heartbeat counts for %v, %v", life, err)
		}
		if err := conn.Client().Del(t.Context(), "tra:worker").Err(); err != nil {
			t.Fatal(err)
		}
		status, err := f.store.Status(t.Context())
		if err != nil || status.State != tra.Down || status.Reason != tra.ReasonNoWorker {
			t.Errorf("%+v, %v", status, err)
		}
	})
}
