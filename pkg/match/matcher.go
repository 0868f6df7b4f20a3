package match

import (
	"context"
	"errors"
	"strings"
	"sync"

	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/selection"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// Options of a Matcher. The zero value matches without an AI.
type Options struct {
	Facts   facts.Facts       // facts of the catalogue's labels, as far as known
	Chooser selection.Chooser // decides where no code does; nil disables it
}

// Matcher finds cars in a catalogue. It caches the indexes of the last
// catalogue. It is safe for concurrent use.
type Matcher struct {
	options Options
	mu      sync.Mutex
	cat     *catalogue.Catalogue
	cache   *indexCache
}

// New returns a Matcher.
func New(o Options) *Matcher { return &Matcher{options: o} }

// indexes returns the indexes of a catalogue.
func (m *Matcher) indexes(cat *catalogue.Catalogue) *indexCache {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cat != cat {
		m.cat, m.cache = cat, &indexCache{facts: m.options.Facts, made: map[*catalogue.Entries]*index{}}
	}
	return m.cache
}

// Choose finds the authority's label for a car: by make, chassis code and
// model, without any I/O; where the listing has no usable code, by name, size,
// fuel and year, with the Chooser if there is one. Its errors are of type
// *Error (listing_incomplete without a make, no_match, ambiguous_match,
// fuel_conflict) or the context's. A Chooser that fails is done without.
func (m *Matcher) Choose(ctx context.Context, car vehicle.Car, cat *catalogue.Catalogue) (Choice, error) {
	q, err := m.query(car, cat)
	if err != nil {
		return Choice{}, err
	}
	choice, err := m.chooseWithin(ctx, q)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == NoMatch && q.name.isForeign() {
		return Choice{}, q.otherMakes(cat, m.indexes(cat), refused)
	}
	return choice, err
}

// chooseWithin chooses among the labels of the listing's make.
func (m *Matcher) chooseWithin(ctx context.Context, q *query) (Choice, error) {
	codes := listedCodes(q.car, q.entries)
	if len(codes) == 0 {
		return m.chooseByName(ctx, q)
	}
	if frame, ok := q.shortened(codes); ok {
		return q.choose(frame)
	}
	if err := q.checkFrame(codes); err != nil {
		return Choice{}, err
	}
	if len(codes) > 1 {
		return q.chooseAmong(codes)
	}
	if m.options.Chooser != nil && q.isMisreading(codes[0]) {
		return m.chooseMisread(ctx, q, codes[0])
	}
	return q.choose(codes[0])
}

// query prepares the search for a car. It refuses a car of an unknown make.
func (m *Matcher) query(car vehicle.Car, cat *catalogue.Catalogue) (*query, error) {
	indexes := m.indexes(cat)
	entries, ok := cat.Of(car.Make)
	switch {
	case strings.TrimSpace(car.Make) == "":
		return nil, acrossMakes(car, cat, indexes, refusal("listing_incomplete.make", sourced(car)))
	case !ok:
		return nil, acrossMakes(car, cat, indexes, refusal("no_match.make", values{"make": clip(car.Make)}))
	}
	q := newQuery(car, indexes.of(entries))
	if mk, other := q.namesOtherMake(cat); other {
		return nil, acrossMakes(car, cat, indexes, refusal("ambiguous_match.title",
			q.values("make", entries.Make.Name, "title", mk.Name)))
	}
	return q, nil
}

// query is the search for one car within a make.
type query struct {
	car     vehicle.Car
	entries *catalogue.Entries
	index   *index
	name    name
	body    string // class of the listing's body
}

func newQuery(car vehicle.Car, x *index) *query {
	return &query{car: car, entries: x.entries, index: x, name: readName(car, x), body: bodyClass(car.BodyType)}
}
