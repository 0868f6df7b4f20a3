package tra_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
)

func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		faults tratest.Faults
		change func(*fixture)
		state  tra.State
		kind   tra.Kind
	}{
		"healthy":                   {state: tra.Up},
		"failing":                   {faults: tratest.Faults{Status: 503}, state: tra.Down, kind: tra.Unavailable},
		"refusing":                  {faults: tratest.Faults{RefuseRegion: true}, state: tra.Down, kind: tra.Refused},
		"a page":                    {faults: tratest.Faults{HTML: true}, state: tra.Down, kind: tra.Unavailable},
		"unreadable":                {faults: tratest.Faults{Status: 404}, state: tra.Degraded, kind: tra.BadAnswer},
		"no makes":                  {faults: tratest.Faults{EmptyLists: true}, state: tra.Degraded, kind: tra.BadAnswer},
		"old":                       {change: func(f *fixture) { f.clock.now = f.clock.now.Add(91 * time.Second) }, state: tra.Unknown},
		"90 seconds are not old":    {change: func(f *fixture) { f.clock.now = f.clock.now.Add(90 * time.Second) }, state: tra.Up},
		"just back after a failure": {faults: tratest.Faults{Status: 503, Next: 1}, change: probeAfter(time.Second), state: tra.Degraded, kind: tra.Unavailable},
		"back for a while":          {faults: tratest.Faults{Status: 503, Next: 1}, change: probeAfter(time.Minute), state: tra.Up},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
				f := newFixture(t, conn, tratest.Options{Faults: c.faults}, tra.AuthorityOptions{})
				if status, err := f.store.Status(t.Context()); err != nil || status.State != tra.Unknown || status.CheckedAt != nil {
					t.Fatalf("before the first probe: %+v, %v", status, err)
				}
				if _, err := f.Probe(t.Context()); err != nil {
					t.Fatal(err)
				}
				if c.change != nil {
					c.change(f)
				}
				status, err := f.store.Status(t.Context())
				if err != nil || status.State != c.state || status.ErrorKind != c.kind || status.Breaker != "closed" {
					t.Errorf("%+v, %v; want %s, %q", status, err, c.state, c.kind)
				}
				if text, _ := json.Marshal(status); strings.Contains(string(text), "NullPointer") {
					t.Errorf("the authority's words are shown: %s", text)
				}
			})
		})
	}
}

func probeAfter(wait time.Duration) func(*fixture) {
	return func(f *fixture) {
		f.clock.now = f.clock.now.Add(wait)
		_, _ = f.Probe(context.Background())
	}
}

func TestEveryCallKeepsTheStatus(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{BreakerFailures: 2, BreakerTimeout: time.Hour})
		state := func() tra.Status {
			t.Helper()
			status, err := f.store.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return status
		}
		if _, err := f.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: fielder}); err != nil {
			t.Fatal(err)
		}
		if got := state(); got.State != tra.Up || got.LastSuccessAt == nil || !got.LastSuccessAt.Equal(f.clock.now) {
			t.Errorf("after a good call: %+v", got)
		}
		f.server.SetFaults(tratest.Faults{Status: 503})
		f.clock.now = f.clock.now.Add(time.Second)
		for range 2 {
			_, _ = f.Makes(t.Context())
		}
		if got := state(); got.State != tra.Down || got.Breaker != "open" || got.ErrorKind != tra.Unavailable {
			t.Errorf("after two failures: %+v", got)
		}
	})
}

func TestStatusIsNotWrittenForEveryCall(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		start := time.Now()
		for range 50 {
			f.clock.now = f.clock.now.Add(time.Second)
			if _, err := f.Makes(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		status, err := f.store.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The clock of the test went on by a second a call: the time of the
		// last write tells how many calls wrote.
		if time.Since(start) < time.Second && f.clock.now.Sub(*status.CheckedAt) != 49*time.Second {
			t.Errorf("written %s before the last of 50 calls", f.clock.now.Sub(*status.CheckedAt))
		}
	})
}

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
