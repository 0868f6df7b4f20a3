package tra_test

import (
	"strings"
	"testing"
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
)

// edges are the last seconds in Dar es Salaam of what an answer may be of,
// each with the year of manufacture of a car of its own.
var edges = []struct {
	name string
	at   time.Time
	yom  int
}{
	{"the year", time.Date(2025, 12, 31, 20, 59, 59, 0, time.UTC), 2018},
	{"the quarter", time.Date(2026, 3, 31, 20, 59, 59, 0, time.UTC), 2019},
}

func ofYear(yom int) catalogue.Vehicle {
	v := fielderOf(0)
	v.YOM = yom
	return v
}

func TestNoCalculationOutlivesItsQuarter(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for _, edge := range edges {
			f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
			details := func(at time.Time) tra.Calculation {
				f.clock.now = at
				got, err := f.Details(t.Context(), f.toyota, ofYear(edge.yom))
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			first := details(edge.at.Add(-time.Hour))
			last := details(edge.at)
			if last.Tax.ReferenceNumber != first.Tax.ReferenceNumber || !last.At.Equal(edge.at.Add(-time.Hour)) {
				t.Errorf("%s: in its last second the answer is of %v, not the one that is kept", edge.name, last.At)
			}
			next := details(edge.at.Add(time.Second))
			if next.Tax.ReferenceNumber == first.Tax.ReferenceNumber || !next.At.Equal(edge.at.Add(time.Second)) {
				t.Errorf("%s: the answer of %v outlives it", edge.name, next.At)
			}
		}
	})
}

// The authority may compute by the old year's values what it answers in the
// new year.
func TestACalculationIsOfTheTimeWhenItWasAskedFor(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for _, edge := range edges {
			var f *fixture
			f = newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{
				OnCall: func(string, time.Duration, error) { f.clock.now = f.clock.now.Add(2 * time.Second) },
			})
			f.clock.now = edge.at
			slow, err := f.Details(t.Context(), f.toyota, ofYear(edge.yom))
			if err != nil || !slow.At.Equal(edge.at) {
				t.Fatalf("%s: of %v, %v", edge.name, slow.At, err)
			}
			next, err := f.Details(t.Context(), f.toyota, ofYear(edge.yom))
			if err != nil || next.Tax.ReferenceNumber == slow.Tax.ReferenceNumber {
				t.Errorf("%s: the answer of %v is served at %v, %v", edge.name, slow.At, f.clock.now, err)
			}
		}
	})
}

func TestAStaleCalculationKeepsItsTime(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{BreakerFailures: 100})
		asked := f.clock.now
		if _, err := f.Details(t.Context(), f.toyota, fielderOf(0)); err != nil {
			t.Fatal(err)
		}
		f.clock.now = tra.QuarterEnd(asked)
		f.server.SetFaults(tratest.Faults{Status: 503})
		if _, err := f.Details(t.Context(), f.toyota, fielderOf(0)); kind(err) != tra.Unavailable {
			t.Errorf("from the authority: %v", err)
		}
		stale, err := f.store.Stale().Details(t.Context(), f.toyota, fielderOf(0))
		if len(stale.Warnings) != 1 || stale.Warnings[0].Code != tra.WarnStale || !stale.Stale ||
			!strings.Contains(stale.Warnings[0].Message, "15 November 2025") {
			t.Errorf("%+v", stale)
		}
		if err != nil || !stale.At.Equal(asked) || localtime.Stamp(stale.At) != "2025-11-15T15:00:00+03:00" {
			t.Errorf("%v, %v", stale.At, err)
		}
	})
}
