package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/listing/listingtest"
)

// attack is what an attacker does, and what may come of it.
type attack struct {
	name string
	// run attacks until ctx is done. It gets its own caller, whose cost is in the
	// table.
	run func(ctx context.Context, attacker *caller)
	// victim asks the i-th time; nil: a listing and a quote in turn, each new.
	victim func(ctx context.Context, victim *caller, i int) response
	// lead is how long the attack runs before the victim is measured again.
	// 0: a second, five in full.
	lead time.Duration
	// factor is how many times as long the victim may wait. 0: twice.
	factor float64
	// maxAPI, maxWorker and maxRedis are the most MB that each may use over idle;
	// 0 is no bound.
	maxAPI, maxWorker, maxRedis int64
}

const (
	victimTimeout = 20 * time.Second // a slower answer is a failure
	// noise is what two busy cores add to an answer of some milliseconds: below it
	// twice as long says nothing.
	noiseFull, noiseShort = 150 * time.Millisecond, 1500 * time.Millisecond
)

// figures are those of a victim.
type figures struct {
	took     []time.Duration // sorted
	failures []string
}

func (f figures) quantile(q float64) time.Duration {
	if len(f.took) == 0 {
		return 0
	}
	return f.took[min(len(f.took)-1, int(q*float64(len(f.took))))].Round(time.Millisecond)
}

func (f figures) String() string {
	return fmt.Sprintf("%v / %v / %d of %d", f.quantile(.5), f.quantile(.95), len(f.failures), len(f.took))
}

// row is a row of the table.
type row struct {
	name         string
	factor       float64
	idle, during figures
	cost, memory string
}

// measured are the rows of all attacks of this run.
var measured struct {
	sync.Mutex

	rows []row
}

// attack measures a victim without and with the attack, and checks the aims: no
// failure, at most twice the time, and the bounds of the memory.
func (s *underAttack) attack(a attack) {
	s.t.Helper()
	victim, attacker := s.caller("victim"), s.caller("attacker")
	if a.victim == nil {
		a.victim = s.usual()
	}
	if a.lead == 0 {
		a.lead = pick(5*time.Second, time.Second)
	}
	n := 0
	ask := func(probes int) (f figures) {
		for range probes {
			f = f.add(a.victim, victim, n)
			n++
			sleep(s.t.Context(), 20*time.Millisecond)
		}
		slices.Sort(f.took)
		return f
	}
	ask(pick(80, 3)) // in full, the lists of all makes are known as well
	result := row{name: a.name, factor: cmp.Or(a.factor, 2), idle: ask(pick(60, 8))}

	memory := s.watchMemory()
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.run(ctx, attacker) })
	sleep(ctx, a.lead)
	result.during = ask(pick(120, 12))
	stop()
	running.Wait()
	peak := memory()
	result.cost = fmt.Sprintf("%d connections, %d requests, %s sent, %s got", attacker.connections.Load(),
		attacker.requests.Load(), size(attacker.sent.Load()), size(attacker.received.Load()))
	result.memory = peak.String()
	measured.Lock()
	measured.rows = append(measured.rows, result)
	measured.Unlock()
	s.t.Logf("%s: idle %v, during %v; %s; most MB of API, worker, Redis: %s", a.name, result.idle, result.during, result.cost, result.memory)
	result.check(s.t)
	peak.check(s.t, a)
}

func (r row) check(t *testing.T) {
	t.Helper()
	if len(r.idle.failures) > 0 {
		t.Errorf("%s: the victim's requests failed without the attack: %v", r.name, r.idle.failures)
	}
	if len(r.during.failures) > 0 {
		t.Errorf("%s: %d of the victim's requests failed: %v", r.name, len(r.during.failures), r.during.failures)
	}
	limit := time.Duration(r.factor * float64(max(r.idle.quantile(.95), pick(noiseFull, noiseShort))))
	if r.during.quantile(.95) > limit {
		t.Errorf("%s: the victim's p95 is %v, of %v without the attack", r.name, r.during.quantile(.95), r.idle.quantile(.95))
	}
}

// add measures one request more.
func (f figures) add(ask func(context.Context, *caller, int) response, victim *caller, i int) figures {
	ctx, cancel := context.WithTimeout(victim.s.t.Context(), victimTimeout)
	defer cancel()
	begun := time.Now()
	got := ask(ctx, victim, i)
	f.took = append(f.took, time.Since(begun))
	if got.err != nil || got.status != http.StatusOK {
		f.failures = append(f.failures, fmt.Sprintf("%d %v %.200s", got.status, got.err, got.body))
	}
	return f
}

// usual is what a victim asks for if the attack does not say: in turn a listing
// that is new, of eight sites, and a car that is new to TRA's calculator.
func (s *underAttack) usual() func(context.Context, *caller, int) response {
	s.t.Helper()
	var sites []string
	for range 8 {
		sites = append(sites, s.listings())
	}
	cars, unknown := listingtest.Cars(), unknownCars(s.t)
	return func(ctx context.Context, victim *caller, i int) response {
		if i%2 == 0 {
			return victim.post(ctx, "/v1/quote", unknown(i))
		}
		url := fmt.Sprintf("%s%s?n=%d", sites[i/2%len(sites)], cars[i/2%2].Path(), i)
		return victim.post(ctx, "/v1/estimate", map[string]string{"url": url})
	}
}

// unknownCars returns cars for /v1/quote, each of which TRA's calculator must be
// asked for. Victims use small numbers, attackers those from 10,000.
func unknownCars(t *testing.T) func(i int) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../../tra/tratest/catalogue.csv")
	must(t, err)
	lines := csv.NewReader(bytes.NewReader(data))
	lines.Comment = '#'
	rows, err := lines.ReadAll()
	must(t, err)
	var entries [][]string
	for _, row := range rows[1:] {
		from, to, _ := strings.Cut(row[5], "-")
		first, err := strconv.Atoi(from) // years with gaps, "2020|2022-2026", are no number
		last, _ := strconv.Atoi(to)
		if err == nil && first <= 2016 && last >= 2020 && row[2] == "PETROL" && !strings.Contains(row[3], "|") {
			entries = append(entries, row)
		}
	}
	return func(i int) map[string]any {
		row := entries[i%len(entries)]
		return map[string]any{
			"make": row[0], "modelBody": row[1], "year": 2016 + i/len(entries)%5, "fuel": row[2], "fobPriceUSD": 5000,
		}
	}
}

func size(bytes int64) string {
	switch {
	case bytes >= 10<<20:
		return fmt.Sprintf("%d MB", bytes>>20)
	case bytes >= 10<<10:
		return fmt.Sprintf("%d KB", bytes>>10)
	}
	return fmt.Sprintf("%d B", bytes)
}
