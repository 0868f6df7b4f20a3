package freight

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/money"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
)

var today = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func number(text string) *money.Number {
	n := money.NewNumber(decimal.RequireFromString(text))
	return &n
}

// car makes a listing whose freight is a rate times its volume.
func car(stock string, m3, rate float64) vehicle.Car {
	volume := decimal.NewFromFloat(m3).Round(3)
	fob := decimal.NewFromInt(5000)
	cf := fob.Add(volume.Mul(decimal.NewFromFloat(rate))).Round(0)
	return vehicle.Car{
		StockNo: stock, Make: "TOYOTA", Model: "COROLLA AXIO", BodyType: "SEDAN",
		M3: number(volume.String()), FOBPriceUSD: number(fob.String()), CFPriceUSD: number(cf.String()),
	}
}

// observe writes listings of a site with rates of a normal distribution.
func observe(t *testing.T, s *Store, site string, count int, mean, deviation float64, day time.Time) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(count), uint64(mean)))
	for i := range count {
		listing := car(fmt.Sprintf("%s-%d-%d", site, day.Unix(), i), 10+random.Float64()*2, mean+random.NormFloat64()*deviation)
		o, ok := ObservationOf(site, listing, day)
		if !ok {
			t.Fatal("a listing without an observation")
		}
		s.observe(o)
	}
	s.flush(t.Context())
}

func newStore(conn *redisx.Conn) *Store {
	s := New(conn.Client(), func(host string) string { return strings.TrimSuffix(host, ".example") }, slog.New(slog.DiscardHandler))
	s.now = func() time.Time { return today }
	return s
}

// forget makes the store ask Redis again, as after a minute.
func (s *Store) forget() { clear(s.known) }

func TestASitesFreightIsLearned(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStore(conn)
		observe(t, s, "alpha", minObservations-1, 120, 6, today.AddDate(0, 0, -30))
		if e, known := s.Shipping(t.Context(), "alpha", "JAPAN"); known {
			t.Fatalf("known by %d observations", e.Count)
		}
		s.forget()
		observe(t, s, "alpha", 281, 120, 6, today.AddDate(0, 0, -2))
		e, known := s.Shipping(t.Context(), "alpha", "JAPAN")
		if !known || e.Count < 290 || e.Count > 300 || e.From != "2026-10-23" || e.To != "2026-11-20" || e.On != "2026-11-22" {
			t.Errorf("%v, %+v", known, e)
		}
		if e.Median.LessThan(decimal.NewFromInt(118)) || e.Median.GreaterThan(decimal.NewFromInt(122)) ||
			e.High.Sub(e.Low).GreaterThan(decimal.NewFromInt(18)) {
			t.Errorf("%s to %s, median %s", e.Low, e.High, e.Median)
		}
		if _, known := s.Shipping(t.Context(), "beta", "JAPAN"); known {
			t.Error("a site without listings is known")
		}
		if _, known := s.Shipping(t.Context(), "alpha", "SINGAPORE"); known {
			t.Error("another origin is known")
		}
		rates, volumes, err := s.List(t.Context())
		if err != nil || len(rates) != 1 || len(volumes) != 0 || rates[0].Site != "alpha" || rates[0].Origin != "JAPAN" {
			t.Errorf("%v: %+v, %+v", err, rates, volumes)
		}
	})
}

// A hostile site says what it likes: of other sites nothing changes, and its own
// estimate moves by its spread in a day at most.
func TestOneSiteCannotMoveAnother(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStore(conn)
		for _, site := range []string{"alpha", "evil"} {
			observe(t, s, site, 100, 120, 6, today.AddDate(0, 0, -5))
		}
		alpha, _ := s.Shipping(t.Context(), "alpha", "JAPAN")
		before, _ := s.Shipping(t.Context(), "evil", "JAPAN")
		observe(t, s, "evil", 900, 590, 1, today)
		s.now = func() time.Time { return today.AddDate(0, 0, 1) }
		s.forget()
		after, known := s.Shipping(t.Context(), "evil", "JAPAN")
		if !known || after.Median.GreaterThan(before.High) || after.High.GreaterThan(before.High.Add(before.High.Sub(before.Low))) {
			t.Errorf("from %+v to %+v", before, after)
		}
		s.forget()
		if still, _ := s.Shipping(t.Context(), "alpha", "JAPAN"); !still.Median.Equal(alpha.Median) || !still.High.Equal(alpha.High) {
			t.Errorf("alpha moved from %+v to %+v", alpha, still)
		}
	})
}

func TestAMinorityCannotMoveTheEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		honest := rapid.IntRange(60, 200).Draw(t, "honest")
		for i := range honest {
			entries = append(entries, entry{value: decimal.NewFromInt(int64(100 + i%21)), day: today})
		}
		clean, _ := estimate(entries, today)
		lie := decimal.NewFromInt(int64(rapid.IntRange(20, 600).Draw(t, "lie")))
		for range rapid.IntRange(1, honest/4).Draw(t, "liars") {
			entries = append(entries, entry{value: lie, day: today})
		}
		got, known := estimate(entries, today)
		if !known || got.Median.LessThan(clean.Low) || got.Median.GreaterThan(clean.High) || got.Low.GreaterThan(got.Median) || got.High.LessThan(got.Median) {
			t.Fatalf("from %+v to %+v", clean, got)
		}
	})
}

// Four fifths of the true freights of listings that were held back lie in the range.
func TestTheRangeHoldsFourFifths(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rate := func() decimal.Decimal { return decimal.NewFromFloat(118 + random.NormFloat64()*5).Round(2) }
	var entries []entry
	for range 500 {
		entries = append(entries, entry{value: rate(), day: today})
	}
	e, _ := estimate(entries, today)
	inside := 0
	for range 500 {
		if r := rate(); !r.LessThan(e.Low) && !r.GreaterThan(e.High) {
			inside++
		}
	}
	if inside < 375 || inside > 425 {
		t.Errorf("%d of 500 in %s to %s", inside, e.Low, e.High)
	}
}

func TestVolumesNeedTheSiteItselfOrSitesThatAgree(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStore(conn)
		volume := func(site string) (Estimate, bool) {
			s.forget()
			return s.Volume(t.Context(), site, "TOYOTA", "COROLLA AXIO", "SEDAN")
		}
		observe(t, s, "alpha", 50, 120, 6, today)
		if e, known := volume("alpha"); !known || e.Median.LessThan(decimal.NewFromInt(10)) || e.Median.GreaterThan(decimal.NewFromInt(12)) {
			t.Errorf("%v %+v", known, e)
		}
		if _, known := volume("gamma"); known {
			t.Error("one site speaks for another")
		}
		observe(t, s, "beta", 50, 100, 6, today)
		if e, known := volume("gamma"); !known || e.Count != 50 {
			t.Errorf("two sites agree: %v %+v", known, e)
		}
	})
}

func TestTheStoreIsBounded(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStore(conn)
		observe(t, s, "alpha", maxWaiting+500, 120, 6, today.AddDate(0, 0, -1)) // 500 are dropped
		observe(t, s, "alpha", 300, 120, 6, today)
		list := shippingList("alpha", "JAPAN")
		entries, err := s.entries(t.Context(), list)
		newest := 0
		for _, e := range entries {
			if e.day.Day() == today.Day() {
				newest++
			}
		}
		if err != nil || len(entries) != maxEntries || newest != 300 {
			t.Errorf("%v: %d entries, %d of the last day", err, len(entries), newest)
		}
		for _, key := range []string{entriesKey(list), daysKey(list), indexKey} {
			if ttl := conn.Client().TTL(t.Context(), key).Val(); ttl <= 0 || ttl > window {
				t.Errorf("%s lives for %s", key, ttl)
			}
		}
	})
}

func TestObservationsOutliveAnOutage(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStore(conn)
		o, _ := ObservationOf("alpha", car("S1", 10, 120), today)
		s.observe(o)
		away, cancel := context.WithCancel(t.Context())
		cancel()
		s.flush(away)
		if len(s.waiting) != 1 {
			t.Fatalf("%d wait", len(s.waiting))
		}
		s.flush(t.Context())
		if entries, err := s.entries(t.Context(), shippingList("alpha", "JAPAN")); err != nil || len(entries) != 1 {
			t.Errorf("%v: %+v", err, entries)
		}
	})
}

func TestWhatIsNoObservation(t *testing.T) {
	for name, change := range map[string]func(*vehicle.Car){
		"no stock number": func(c *vehicle.Car) { c.StockNo = "" },
		"no volume":       func(c *vehicle.Car) { c.M3 = nil },
		"a toy":           func(c *vehicle.Car) { c.M3 = number("0.5") },
		"a lot":           func(c *vehicle.Car) { c.Auction = &vehicle.Auction{} },
	} {
		c := car("S1", 10, 120)
		change(&c)
		if o, ok := ObservationOf("alpha", c, today); ok {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if _, ok := ObservationOf("", car("S1", 10, 120), today); ok {
		t.Error("an unknown site")
	}
	for name, rate := range map[string]float64{"cheaper than FOB": -10, "a misprint": 6000} {
		if o, ok := ObservationOf("alpha", car("S1", 10, rate), today); !ok || !o.USD.IsZero() {
			t.Errorf("%s: %v %s", name, ok, o.USD)
		}
	}
}

// The width of the range falls when a site's freight is known.
func TestACostUsesWhatIsLearned(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStore(conn)
		random := rand.New(rand.NewPCG(3, 4))
		for i := range 300 {
			s.ObserveListing("https://alpha.example/"+strconv.Itoa(i), car(fmt.Sprint("S", i), 10+random.Float64()*2, 120+random.NormFloat64()*4))
		}
		s.flush(t.Context())
		e := vehicle.Estimate{Input: vehicle.Input{URL: "https://alpha.example/1"}, Car: vehicle.Car{Make: "TOYOTA", Model: "COROLLA AXIO", BodyType: "SEDAN"}}
		learned := s.Learned(e)
		if learned.Freight == nil || learned.Freight.Site != "alpha" || learned.Volume == nil || learned.Volume.Count < 290 {
			t.Fatalf("%+v", learned)
		}
		e.Input.URL = "https://unknown.test/1"
		s.siteOf = func(string) string { return "" }
		if learned := s.Learned(e); learned.Freight != nil {
			t.Errorf("of an unknown site: %+v", learned)
		}
	})
}
