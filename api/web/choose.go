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
	Name    string
	Back    string      // address of the answer
	Here    string      // path of this page
	Terms   [][2]string // of its address
	Query   string
	Total   int // entries that fit the query
	Shown   int
	Current string
	Likely  []string // entries that the car may be, the likeliest first
	Entries []entry  // sorted by likeness
	Axis    *axis
	Request form
}

// Unknown reports whether no entry has a cost that is known.
func (c *choice) Unknown() bool {
	return !slices.ContainsFunc(c.Entries, func(e entry) bool { return e.sum() != nil })
}

// entry is one entry of the authority's list, with what the car costs as this one.
type entry struct {
	asEntry

	ModelBody string `json:"modelBody"`
	EngineCC  int    `json:"engine_cc"` // 0 is not known, as the others
	Fuel      string `json:"fuel"`
	From      int    `json:"from"` // years of production
	To        int    `json:"to"`
}

// asEntry is what a car costs as an entry of the list: on the road when it lands, else
// without the car and the ship. Nil is not known.
type asEntry struct {
	Cost *vehicle.Sum `json:"-"`
	Part *vehicle.Sum `json:"-"`
	Dot  int64        `json:"-"` // where the sum lies on the axis of all entries
}

// sum returns the sum that is known, or nil.
func (e *asEntry) sum() *vehicle.Sum { return cmp.Or(e.Cost, e.Part) }

// axis is the scale of the sums of entries; nil when fewer than two are known.
type axis struct{ LowTZS, HighTZS int64 }

// axisOf sets where the sums lie between the lowest and the highest.
func axisOf(entries []*asEntry) *axis {
	known := slices.DeleteFunc(entries, func(e *asEntry) bool { return e.sum() == nil })
	if len(known) < 2 {
		return nil
	}
	compare := func(a, b *asEntry) int { return cmp.Compare(a.sum().TZS, b.sum().TZS) }
	a := axis{slices.MinFunc(known, compare).sum().TZS, slices.MaxFunc(known, compare).sum().TZS}
	if a.LowTZS == a.HighTZS {
		return nil
	}
	for _, e := range known {
		e.Dot = (e.sum().TZS - a.LowTZS) * (figures.BarWidth - dotWidth) / (a.HighTZS - a.LowTZS)
	}
	return &a
}

// dotWidth is that of a dot on an axis.
const dotWidth = 24

// costsOf fills in what a car costs as some entries, which have the labels.
func (p *Pages) costsOf(
	r *http.Request, found *link, car vehicle.Car, labels []string, entries []*asEntry,
) (*axis, error) {
	costs, err := p.knownCosts(r, found, car, labels)
	if err != nil {
		return nil, err
	}
	for i, label := range labels {
		if known := costs[label]; known.Summary != nil {
			entries[i].Cost, entries[i].Part = known.Summary.OnTheRoad, known.Summary.PortAndTaxesOnly
		}
	}
	return axisOf(entries), nil
}

// choose responds with the entries of the car's make that fit what the visitor typed, at
// first the name of the model. The taxes of each stand beside it where they are known.
func (p *Pages) choose(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	car, current, likely, err := carOf(found)
	if err != nil {
		return err
	}
	request, err := formOf(found)
	if err != nil {
		return err
	}
	view := choice{
		Name: frame.NameOf(named(car, current)), Back: found.with(strings.TrimSuffix(r.URL.Path, "/choose")),
		Here: r.URL.Path, Terms: found.hidden(),
		Current: current, Request: request.describing(car, current),
		Likely: likely, Query: firstWord(named(car, current).Model),
	}
	if query := r.URL.Query(); query.Has("q") {
		view.Query = query.Get("q")[:min(len(query.Get("q")), 100)]
	}
	if err := p.entries(r, found, car, &view); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "choose", Title: "choose.title", Body: &view})
}

// entries fills in the entries of a make.
func (p *Pages) entries(r *http.Request, found *link, car vehicle.Car, view *choice) error {
	var list struct {
		Total    int     `json:"total"`
		Vehicles []entry `json:"vehicles"`
	}
	query := url.Values{"make": {car.Make}, "q": {view.Query}, "limit": {strconv.Itoa(maxEntries)}}
	if err := p.api.Get(r.Context(), "/v1/vehicles?"+query.Encode(), &list); err != nil {
		return err
	}
	sortByLikeness(list.Vehicles, view.Likely)
	labels := make([]string, len(list.Vehicles))
	for i, e := range list.Vehicles {
		labels[i] = e.ModelBody
	}
	costs := make([]*asEntry, len(list.Vehicles))
	for i := range list.Vehicles {
		costs[i] = &list.Vehicles[i].asEntry
	}
	var err error
	if view.Axis, err = p.costsOf(r, found, car, labels, costs); err != nil { //nolint:contextcheck // the request has it
		return err
	}
	view.Total, view.Shown, view.Entries = list.Total, len(list.Vehicles), list.Vehicles
	return nil
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

// carOf returns the car of a link as far as it was read, the entry that was used, and
// those that the car may be, the likeliest first.
func carOf(found *link) (car vehicle.Car, current string, likely []string, err error) {
	if found.Shown == nil {
		return car, "", nil, errUnknown
	}
	if found.Shown.Failed != nil {
		var why vehicle.Error
		if err := json.Unmarshal(found.Shown.Failed, &why); err != nil {
			return car, "", nil, fmt.Errorf("web: error of a link: %w", err)
		}
		if why.Car == nil || why.Car.Make == "" {
			return car, "", nil, errUnknown
		}
		return *why.Car, "", labelsOf(why.Candidates), nil
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(found.Shown.Result, &estimate); err != nil {
		return car, "", nil, fmt.Errorf("web: estimate: %w", err)
	}
	car, current = estimate.Car, estimate.Matched.ModelBody
	car.Make = estimate.Matched.Make
	return car, current, append([]string{current}, labelsOf(estimate.Matched.Candidates)...), nil
}

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
