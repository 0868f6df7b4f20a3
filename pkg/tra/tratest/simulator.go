// Package tratest simulates the authority's vehicle calculator over HTTP, as
// net/http/httptest simulates a server. Its labels look like the authority's,
// its prices are invented, its taxes come from package duty. Every answer
// carries the header X-Simulated and every reference number starts with SIM,
// so that nothing from here can be mistaken for the authority's.
//
// What is known of the real one is how it is asked and the form of its
// answers. These are guesses: unknown ids and words give an empty list, and
// null in place of a calculation; year and quarter are of the calendar; an
// electric car has the band "0 - 0 CC"; the largest band is "ABOVE 4000 CC".
package tratest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/faults"
)

// Path is where the seven calls are, as at the authority.
const Path = "/umvvs-api/ExternalCalculator"

// Header and HeaderValue mark every answer.
const (
	Header      = "X-Simulated"
	HeaderValue = "SIMULATED authority"
)

// Options of a Simulator. The zero value simulates a healthy authority today.
type Options struct {
	Seed    uint64          // of make ids and of random faults
	Date    time.Time       // decides ages, rules and the quarter; default the time of each request
	FX      decimal.Decimal // TZS per USD; default 2565.98
	Year    int             // default the year of Date
	Quarter int             // default the calendar quarter of Date
	Faults  Faults
}

// Simulator is an http.Handler. It is safe for concurrent use.
type Simulator struct {
	options Options
	index   *index
	mux     *http.ServeMux
	serial  atomic.Int64

	mu     sync.Mutex
	faults Faults
	dice   *faults.Dice
	counts Counts
}

// Counts says what was asked since the start or the last reset.
type Counts struct {
	Calls  map[string]int `json:"calls"`  // by name: getMakes …
	Tuples map[string]int `json:"tuples"` // calculations by "MAKE|label|yom|country|fuel|band"
}

// New reads the embedded catalogue.
func New(o Options) (*Simulator, error) {
	if o.FX.IsZero() {
		o.FX = decimal.RequireFromString("2565.98")
	}
	if o.FX.IsNegative() || o.Quarter < 0 || o.Quarter > 4 {
		return nil, fmt.Errorf("tratest: FX %s or quarter %d is out of range", o.FX, o.Quarter)
	}
	index, err := newIndex(o.Seed)
	if err != nil {
		return nil, err
	}
	s := &Simulator{options: o, index: index, mux: http.NewServeMux()}
	s.Reset()
	for name, answer := range map[string]func(query) any{
		"getMakes": s.makes, "getModelBody": s.modelBodies, "getYom": s.years, "getCountryOfOrigin": s.countries,
		"getFuelType": s.fuels, "getEngineCapacity": s.capacities, "getVehicleDetails": s.details,
	} {
		s.mux.HandleFunc("GET "+Path+"/"+name, s.call(name, answer))
	}
	faults.Control(s.mux, s.Counts, s.SetFaults, s.Reset)
	return s, nil
}

// ServeHTTP answers the seven calls under Path and the controls under /_sim/.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(Header, HeaderValue)
	s.mux.ServeHTTP(w, r)
}

// SetFaults replaces the faults from the next request on.
func (s *Simulator) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.dice = f, faults.NewDice(f.Next, s.options.Seed)
}

// Reset forgets the counts and returns to the faults of the options.
func (s *Simulator) Reset() {
	s.SetFaults(s.options.Faults)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = Counts{Calls: map[string]int{}, Tuples: map[string]int{}}
}

// Count returns how often a call was made since the last reset.
func (s *Simulator) Count(call string) int { return s.Counts().Calls[call] }

// MakeID returns the id of a make, 0 when there is none of that name.
func (s *Simulator) MakeID(name string) int { return s.index.ids[name] }

// call counts a request, plays the faults and writes the answer.
func (s *Simulator) call(name string, answer func(query) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := query{Values: r.URL.Query()}
		fault := s.begin(name, q)
		if !fault.delay.Wait(r.Context()) || fault.replaces(w) {
			return
		}
		q.otherLaw = fault.OtherLaw
		value := fault.reshape(answer(q))
		if name != "getVehicleDetails" && fault.EmptyLists {
			value = []any{}
		}
		fault.write(r.Context(), w, value)
	}
}

// begin counts the request and takes the fault that it shall suffer.
func (s *Simulator) begin(name string, q query) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Calls[name]++
	if name == "getVehicleDetails" {
		tuple := []string{
			s.index.name(q.id()), q.Get("modelBody"), q.Get("yom"), q.Get("cuntryOfOrigin"),
			q.Get("fuelType"), q.Get("engineCapacity"),
		}
		s.counts.Tuples[strings.Join(tuple, "|")]++
	}
	return s.faults.take(s.dice, name)
}

func (s *Simulator) now() time.Time {
	if s.options.Date.IsZero() {
		return time.Now()
	}
	return s.options.Date
}

// reference is unique in the life of the simulator.
func (s *Simulator) reference(year, quarter int) string {
	return "SIM" + strconv.Itoa(year) + strconv.Itoa(quarter) + fmt.Sprintf("%06d", s.serial.Add(1))
}
