package metrics_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/metrics"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// visits has a visitor of a network ask for a car, and get an answer or a refusal.
func (r *rig) visits(network, host, code string) {
	a := metrics.Ask{Network: network, Kind: "e", Host: host}
	r.metrics.Asked(a)
	r.metrics.Answered(a, code, 1500*time.Millisecond)
}

func (r *rig) people(t *testing.T) metrics.People {
	t.Helper()
	r.Write(t.Context())
	people, err := metrics.ReadPeople(t.Context(), r.client, r.now, 24)
	if err != nil {
		t.Fatal(err)
	}
	return people
}

func TestWhatVisitorsAskForIsCountedBySite(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newRig(conn.Client())
		r.metrics.Viewed("home", "sw")
		r.metrics.Viewed("answer", "sw")
		r.metrics.Viewed("home", "en")
		r.visits("one", "www.beforward.jp", "")
		r.visits("one", "beforward.jp", "listing_gone")
		r.visits("two", "beforward.jp", "")
		r.visits("two", "cars.Kupatana.co.tz", "listing_gone")
		for _, host := range []string{"203.0.113.9", "localhost", "2001:db8::1", "no registry", "x.invalid", "a_b.example"} {
			r.visits("two", host, "something new")
		}
		r.metrics.Asked(metrics.Ask{Network: "two", Kind: "bid"}) // and leaves
		got := r.people(t)
		want := metrics.People{
			Pages: map[string]int64{"home": 2, "answer": 1}, Languages: map[string]int64{"sw": 2, "en": 1},
			Asked: map[string]int64{"e": 10, "bid": 1}, Answered: 2, Refused: map[string]int64{"listing_gone": 2, metrics.Other: 6},
			Median: 1500 * time.Millisecond,
			Sites: map[string]metrics.AskedSite{
				"beforward.jp":   {Networks: 2, Asked: 3, Answered: 2, Refused: map[string]int64{"listing_gone": 1}},
				"kupatana.co.tz": {Networks: 1, Asked: 1, Refused: map[string]int64{"listing_gone": 1}},
				metrics.Other:    {Asked: 6, Refused: map[string]int64{metrics.Other: 6}},
			},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})
}

// One network that asks for new sites all day does not push out what others ask for, nor hide
// how the site of others does.
func TestANetworkThatFloodsIsCountedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(redistest.Embedded(t).Client())
	for hour := range 24 {
		r.now = noon.Add(time.Duration(hour-23) * time.Hour)
		for i := range 500 {
			r.visits("flood", fmt.Sprintf("flood%d-%d.com", hour, i), "listing_gone")
			r.visits("flood", "beforward.jp", "listing_gone")
		}
		if hour%8 == 0 {
			for network := range 3 {
				r.visits(strconv.Itoa(network), "honest.co.tz", "fetch_timeout")
				r.visits(strconv.Itoa(network), "beforward.jp", "")
			}
		}
		r.Write(t.Context())
	}
	people := r.people(t)
	if got := people.Sites["honest.co.tz"]; got.Networks != 9 || got.Asked != 9 || got.Refused["fetch_timeout"] != 9 {
		t.Errorf("a site of honest visitors: %+v, want nine networks", got)
	}
	if got := people.Sites["beforward.jp"]; got.Answered != 9 || got.Refused["listing_gone"] > 24*61 {
		t.Errorf("the site that is flooded: %+v", got)
	}
	flooded := int64(0)
	for host, site := range people.Sites {
		if strings.HasPrefix(host, "flood") {
			flooded = max(flooded, site.Networks)
		}
	}
	if n := len(people.Sites); flooded != 1 || n > 24*20+3 {
		t.Errorf("%d sites, one of the flood with %d networks, want 1", n, flooded)
	}
}

// Many networks that name many sites fill only a bounded room, in which known sites always are, and
// nothing of them is kept for longer than a day.
func TestSitesOfManyNetworksAreBounded(t *testing.T) {
	t.Parallel()
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	r := newRig(client)
	for i := range 12_000 {
		r.visits(fmt.Sprint("network ", i), fmt.Sprintf("site%d.com", i), "")
	}
	r.visits("network 1", "beforward.jp", "")
	people := r.people(t)
	if n := len(people.Sites); n != 202 || people.Sites["beforward.jp"].Networks != 1 {
		t.Errorf("%d sites, want 200, a known one and other", n)
	}
	keys := client.Keys(t.Context(), "*asked*").Val()
	for _, key := range keys {
		if ttl := client.TTL(t.Context(), key).Val(); ttl <= 0 || ttl > 25*time.Hour {
			t.Errorf("%s is kept for %s", key, ttl)
		}
		for name := range client.HGetAll(t.Context(), key).Val() {
			if strings.Contains(name, "network ") {
				t.Errorf("%s has who has asked: %s", key, name)
			}
		}
	}
	if len(keys) != 1 {
		t.Errorf("keys %v, want one", keys)
	}
}
