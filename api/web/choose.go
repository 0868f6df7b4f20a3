package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ushuru/api/web/figures"
	"ushuru/api/web/frame"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// maxEntries is how many entries of the authority's list a page shows.
const maxEntries = 40

// Costs returns what a car costs on some terms as some entries of its make, by the entry, as of a
// time and as far as the authority's known answers say. It never asks the authority.
type Costs func(
	ctx context.Context, car vehicle.Car, labels []string, terms url.Values, made time.Time,
) (map[string]vehicle.Estimate, error)

// knownCosts returns Costs on the terms and as of the time of a link, remembered for a minute.
func (p *Pages) knownCosts(
	r *http.Request, found *link, car vehicle.Car, labels []string,
) (costs map[string]vehicle.Estimate, err error) {
	data, err := p.options.Compute(r, []any{"costs", car, labels, found.terms, found.Made}, func() ([]byte, error) {
		costs, err := p.options.Costs(r.Context(), car, labels, found.terms, found.Made)
		if err != nil {
			return nil, err
		}
		return plainjson.Encode(costs)
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &costs); err != nil {
		return nil, fmt.Errorf("web: costs: %w", err)
	}
	return costs, nil
}

// choice is the page where a visitor chooses another entry of the authority's list.
type choice struct {
	entries

	Name    string
	Back    string     // address of the answer
	Here    string     // path of this page
	Terms   url.Values // of its address
	Query   string
	Current string
	Request form
	Total   int `json:"total"` // entries that fit the query
}

// entries are entries of the authority's list, with what a car costs as each.
type entries struct {
	Entries []entry `json:"vehicles"`
	Axis    *axis   `json:"-"`
}

// entry is one entry of the authority's list, with what the car costs as this one: on the road when it
// lands, else without the car and the ship. Nil is not known, nor 0.
type entry struct {
	ModelBody string        `json:"modelBody"`
	EngineCC  int           `json:"engine_cc"`
	Fuel      string        `json:"fuel"`
	From      int           `json:"from"` // years of production
	To        int           `json:"to"`
	Cost      *vehicle.Sum  `json:"-"`
	Part      *vehicle.Sum  `json:"-"`
	Taxes     *money.Amount `json:"-"` // alone
	Dot       int64         `json:"-"` // where the sum lies on the axis of all entries
}

// Sum returns the sum that is known, or nil.
func (e entry) Sum() *vehicle.Sum { return cmp.Or(e.Cost, e.Part) }

// Unknown reports whether no entry has a cost that is known.
func (e *entries) Unknown() bool {
	return !slices.ContainsFunc(e.Entries, func(e entry) bool { return e.Sum() != nil || e.Taxes != nil })
}

// axis is the scale of the sums of entries; nil when fewer than two are known.
type axis struct{ LowTZS, HighTZS int64 }

// dotWidth is that of a dot on an axis.
const dotWidth = 24

// place sets where the sums lie between the lowest and the highest.
func (e *entries) place() {
	var sums []int64
	for i := range e.Entries {
		if sum := e.Entries[i].Sum(); sum != nil {
			sums = append(sums, sum.TZS)
		}
	}
	if len(sums) < 2 || slices.Min(sums) == slices.Max(sums) {
		return
	}
	e.Axis = &axis{slices.Min(sums), slices.Max(sums)}
	for i := range e.Entries {
		if sum := e.Entries[i].Sum(); sum != nil {
			e.Entries[i].Dot = (sum.TZS - e.Axis.LowTZS) * (figures.BarWidth - dotWidth) / (e.Axis.HighTZS - e.Axis.LowTZS)
		}
	}
}

// priceEntries fills in what a car costs as some entries.
func (p *Pages) priceEntries(r *http.Request, found *link, car vehicle.Car, e *entries) error {
	labels := make([]string, len(e.Entries))
	for i, entry := range e.Entries {
		labels[i] = entry.ModelBody
	}
	costs, err := p.knownCosts(r, found, car, labels)
	for i, label := range labels {
		if known := costs[label].Summary; known != nil {
			e.Entries[i].Cost, e.Entries[i].Part = known.OnTheRoad, known.PortAndTaxesOnly
		}
	}
	e.place()
	return err
}

// choose responds with the entries of the car's make that fit what the visitor typed, at
// first the name of the model. The taxes of each stand beside it where they are known.
func (p *Pages) choose(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	car, current, likely, err := found.car()
	if err != nil {
		return err
	}
	view := choice{
		Name: frame.NameOf(named(car, current)), Back: found.with(strings.TrimSuffix(r.URL.Path, "/choose")),
		Here: r.URL.Path, Terms: found.hidden(), Current: current, Request: found.form().describing(car, current),
		Query: firstWord(named(car, current).Model),
	}
	if query := r.URL.Query(); query.Has("q") {
		view.Query = query.Get("q")[:min(len(query.Get("q")), 100)]
	}
	query := url.Values{"make": {car.Make}, "q": {view.Query}, "limit": {strconv.Itoa(maxEntries)}}
	if err := p.api.Get(r.Context(), "/v1/vehicles?"+query.Encode(), &view); err != nil {
		return err
	}
	sortByLikeness(view.Entries, likely)
	if err := p.priceEntries(r, found, car, &view.entries); err != nil { //nolint:contextcheck // the request has it
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "choose", Body: &view})
}

// sortByLikeness sorts entries: first the likely ones in their order, then those that share
// the most words with the likeliest, else in the order of the list.
func sortByLikeness(entries []entry, likely []string) {
	if len(likely) == 0 {
		return
	}
	words := strings.FieldsFunc(likely[0], isBetweenWords)
	rank := func(e entry) int {
		if at := slices.Index(likely, e.ModelBody); at >= 0 {
			return at - len(likely)
		}
		others := strings.FieldsFunc(e.ModelBody, isBetweenWords)
		shared := slices.DeleteFunc(others, func(word string) bool { return !slices.Contains(words, word) })
		return max(0, len(words)-len(shared))
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(rank(a), rank(b)) })
}

func isBetweenWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// named returns a car with the model by which pages name it: that of the entry when an entry of the
// authority alone describes the car.
func named(car vehicle.Car, entry string) vehicle.Car {
	if car.Model == "" {
		car.Model, _, _ = strings.Cut(entry, " - ")
	}
	return car
}

// labelsOf returns the entries of candidates.
func labelsOf(candidates []vehicle.Candidate) []string {
	labels := make([]string, len(candidates))
	for i, c := range candidates {
		labels[i] = c.ModelBody
	}
	return labels
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return word
}
