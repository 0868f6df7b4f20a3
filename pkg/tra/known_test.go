package tra_test

import (
	"errors"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
)

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
