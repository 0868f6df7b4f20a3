package tra_test

import (
	"errors"
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

// knownDetails reads a calculation with another process's store, which has no
// client of the authority.
func (f *fixture) knownDetails(t *testing.T, conn *redisx.Conn) (tra.Calculation, error) {
	t.Helper()
	return tra.NewStore(conn.Client(), tra.StoreOptions{Now: f.clock.Now}).Known().Details(t.Context(), f.toyota, fielderOf(0))
}

func TestKnownAnswersNeedNoAuthority(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		if _, err := f.knownDetails(t, conn); !errors.Is(err, tra.ErrNotKnown) {
			t.Fatalf("before any answer: %v", err)
		}
		want, _, err := f.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		calls, v, known := f.calls(), fielderOf(0), f.store.Known()
		years, err1 := known.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: v.ModelBody})
		countries, err2 := known.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: v.ModelBody, YOM: v.YOM})
		fuels, err3 := known.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: v.ModelBody, YOM: v.YOM, Country: v.Country})
		bands, err4 := known.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: v.ModelBody, YOM: v.YOM, Country: v.Country, FuelType: v.FuelType})
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		if len(years) == 0 || len(countries) == 0 || len(fuels) == 0 || len(bands) == 0 {
			t.Errorf("lists %v, %v, %v, %v", years, countries, fuels, bands)
		}
		got, err := f.knownDetails(t, conn)
		if err != nil || got.Tax.ReferenceNumber != want.ReferenceNumber || !got.At.Equal(f.clock.now) {
			t.Errorf("%s of %v, %v; want %s", got.Tax.ReferenceNumber, got.At, err, want.ReferenceNumber)
		}
		if _, err := known.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: v.ModelBody, YOM: v.YOM - 1}); !errors.Is(err, tra.ErrNotKnown) {
			t.Errorf("another year: %v", err)
		}
		if f.calls() != calls {
			t.Errorf("%d calls of the authority for what is known", f.calls()-calls)
		}
	})
}

// What is not fresh for an Authority is not known.
func TestKnownAnswersAreFresh(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for _, c := range []struct {
			name   string
			expire func(*fixture)
		}{
			{"the quarter has ended", func(f *fixture) { f.clock.now = tra.QuarterEnd(f.clock.now) }},
			{"the authority has revised its values", func(*fixture) {
				if err := conn.Client().Set(t.Context(), "tra:period", 99999, 0).Err(); err != nil {
					t.Fatal(err)
				}
			}},
		} {
			f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
			if _, _, err := f.resolve(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := f.knownDetails(t, conn); err != nil {
				t.Fatalf("%s, before: %v", c.name, err)
			}
			c.expire(f)
			if got, err := f.knownDetails(t, conn); !errors.Is(err, tra.ErrNotKnown) {
				t.Errorf("%s: %+v, %v", c.name, got.Tax, err)
			}
		}
	})
}

func TestAnEmptyListIsKnownForAWhileOnly(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{EmptyListTTL: time.Minute})
		list := func() error {
			got, err := f.store.Known().List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: "NO SUCH LABEL"})
			if len(got) != 0 {
				t.Errorf("years %v", got)
			}
			return err
		}
		if years, err := f.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: "NO SUCH LABEL"}); err != nil || len(years) != 0 {
			t.Fatalf("%v, %v", years, err)
		}
		if err := list(); err != nil {
			t.Errorf("at once: %v", err)
		}
		f.clock.now = f.clock.now.Add(time.Minute)
		if err := list(); !errors.Is(err, tra.ErrNotKnown) {
			t.Errorf("after its time: %v", err)
		}
	})
}
