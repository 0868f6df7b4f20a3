package match

import (
	"context"
	"errors"
	"strings"
	"sync"

	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// Options of a Matcher. The zero value matches without an AI.
type Options struct {
	Facts   Facts   // of the catalogue's labels, where they are known
	Chooser Chooser // asked where no code decides; nil: none
	Runs    int     // agreeing answers needed where candidates are close; default 2
}

// Matcher finds cars in a catalogue. It keeps what it prepares of the
// catalogue that it was last given. It is safe for concurrent use.
type Matcher struct {
	options Options
	mu      sync.Mutex
	cat     *tra.Catalogue
	shelf   *shelf
}

// New makes a Matcher.
func New(o Options) *Matcher {
	if o.Runs <= 0 {
		o.Runs = 2
	}
	return &Matcher{options: o}
}

// shelfOf returns the indexes of a catalogue.
func (m *Matcher) shelfOf(cat *tra.Catalogue) *shelf {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cat != cat {
		m.cat, m.shelf = cat, &shelf{facts: m.options.Facts, made: map[*tra.Entries]*index{}}
	}
	return m.shelf
}

// Choose finds the authority's label for a car: by make, chassis code and
// model, without any I/O; where the listing has no usable code, by name, size,
// fuel and year, with the Chooser if there is one. Its errors are of type
// *Error (listing_incomplete without a make, no_match, ambiguous_match,
// fuel_conflict) or the context's. A Chooser that fails is done without.
func (m *Matcher) Choose(ctx context.Context, car vehicle.Car, cat *tra.Catalogue) (Choice, error) {
	q, err := m.query(car, cat)
	if err != nil {
		return Choice{}, err
	}
	choice, err := m.chooseWithin(ctx, q)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == NoMatch && q.name.isForeign() {
		return Choice{}, q.elsewhere(cat, m.shelfOf(cat), refused)
	}
	return choice, err
}

// chooseWithin chooses among the labels of the listing's make.
func (m *Matcher) chooseWithin(ctx context.Context, q *query) (Choice, error) {
	codes := listedCodes(q.car, q.entries)
	if len(codes) == 0 {
		return m.chooseByName(ctx, q)
	}
	if err := q.checkFrame(codes); err != nil {
		return Choice{}, err
	}
	if len(codes) > 1 {
		return q.chooseAmong(codes)
	}
	if m.options.Chooser != nil && q.misread(codes[0]) {
		return m.chooseMisread(ctx, q, codes[0])
	}
	return q.choose(codes[0])
}

// query begins the search for a car. It refuses one whose make is not known.
func (m *Matcher) query(car vehicle.Car, cat *tra.Catalogue) (*query, error) {
	shelf := m.shelfOf(cat)
	entries, ok := cat.Of(car.Make)
	switch {
	case strings.TrimSpace(car.Make) == "":
		return nil, acrossMakes(car, cat, shelf, refusal(ListingIncomplete, "the listing names no make"))
	case !ok:
		return nil, acrossMakes(car, cat, shelf, refusal(NoMatch, "the authority lists no make "+quote(car.Make)))
	}
	q := newQuery(car, shelf.of(entries))
	if mk, other := q.namesOtherMake(cat); other {
		return nil, acrossMakes(car, cat, shelf, refusal(AmbiguousMatch,
			"the listing contradicts itself: its make is "+entries.Make.Name+", its title says "+mk.Name))
	}
	return q, nil
}

// query is one car being looked for within a make.
type query struct {
	car     vehicle.Car
	entries *tra.Entries
	index   *index
	name    name
	body    string // class of the listing's body
}

func newQuery(car vehicle.Car, x *index) *query {
	return &query{car: car, entries: x.entries, index: x, name: readName(car, x), body: bodyClass(car.BodyType)}
}
