package match_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/match"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
)

// latency is long beside the time that starting a call takes on a busy
// machine, so that calls made at once overlap.
const latency = 300 * time.Millisecond

// timeline notes when calls to the authority began and ended.
type timeline struct {
	mu    sync.Mutex
	calls []interval
}

type interval struct {
	name       string
	begin, end time.Time
}

func (l *timeline) observe(name string, took time.Duration, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.calls = append(l.calls, interval{name, now.Add(-took), now})
}

// take empties the timeline. It returns the number of calls, how many of them
// followed one another, and a picture.
func (l *timeline) take() (calls, inARow int, picture string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.calls = nil }()
	slices.SortFunc(l.calls, func(a, b interval) int { return a.end.Compare(b.end) })
	var last time.Time
	var b strings.Builder
	for _, c := range l.calls {
		if c.begin.After(last) {
			inARow++
			last = c.end
		}
		start := l.calls[0].begin
		fmt.Fprintf(&b, "\n%6.1f T to %4.1f T  %s", c.begin.Sub(start).Seconds()/latency.Seconds(), c.end.Sub(start).Seconds()/latency.Seconds(), c.name)
	}
	return len(l.calls), inARow, b.String()
}

// TestAnEstimateNeedsFewCallsInARow counts the calls that the simulated
// authority gets one after the other, from the label to the tax.
func TestAnEstimateNeedsFewCallsInARow(t *testing.T) {
	conn := redistest.Embedded(t)
	const fielder = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"
	for _, c := range []struct {
		name        string
		car         vehicle.Car
		cold, again int // calls in a row, at first and for another car of the same lists
	}{
		{"as foreseen", vehicle.Car{Year: 2015, Fuel: "HYBRID", EngineCC: 1496}, 2, 0},
		{"year not listed", vehicle.Car{Year: 2010, Fuel: "HYBRID", EngineCC: 1496}, 3, 0},
		{"listed as petrol", vehicle.Car{Year: 2015, Fuel: "PETROL", EngineCC: 1496}, 2, 0},
		{"year not listed, no fuel given", vehicle.Car{Year: 2010, EngineCC: 1496}, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := conn.Client().FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			server := tratest.Start(t, tratest.Options{Faults: tratest.Faults{Latency: tratest.Duration(latency)}})
			client, err := tra.NewClient(tra.Options{BaseURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			var line timeline
			authority := tra.NewAuthority(client, tra.NewStore(conn.Client(), tra.StoreOptions{}), tra.AuthorityOptions{OnCall: line.observe})
			choice := match.Choice{Make: catalogue.Make{ID: server.MakeID("TOYOTA"), Name: "TOYOTA"}, Label: fielder, MatchType: vehicle.ExactCode}
			estimate := func(ctx context.Context) {
				_, tuple, err := match.Resolve(ctx, c.car, choice, authority)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := authority.Details(ctx, choice.Make, tuple); err != nil {
					t.Fatal(err)
				}
			}
			estimate(t.Context())
			calls, inARow, picture := line.take()
			t.Logf("cold: %d calls, %d in a row%s", calls, inARow, picture)
			if inARow > c.cold || server.Counts().Calls["getVehicleDetails"] != 1 {
				t.Errorf("cold: %d calls in a row, want %d at most: %s", inARow, c.cold, picture)
			}
			estimate(t.Context())
			if calls, inARow, picture := line.take(); inARow > c.again {
				t.Errorf("known tuple: %d calls: %s", calls, picture)
			}
		})
	}
}
