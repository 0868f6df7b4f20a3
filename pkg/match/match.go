// Package match finds a listed car in the authority's database. It works in
// two halves, because only the second needs the authority to answer: Choose
// picks the label by make, model and chassis code from the catalogue; Resolve
// asks for the label's years, countries, fuels and engine bands and settles on
// one of each.
//
// The key is (make, model, code), never the code alone: badge twins share
// codes, and some codes belong to two makes. Codes are compared letter by
// letter, never by likeness: nearly every code has another real code one
// character away. When several labels fit, or the listing contradicts itself,
// the answer is a typed refusal with candidates.
package match

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// Choice is the label chosen for a car. It can be stored as JSON between the
// two halves.
type Choice struct {
	Make        tra.Make             `json:"make"`
	Label       string               `json:"label"` // byte for byte
	Code        string               `json:"code"`  // the label's chassis code
	MatchType   vehicle.MatchType    `json:"matchType"`
	EngineCC    int                  `json:"engine_cc,omitempty"` // of the label's car; 0: not known
	Reason      string               `json:"reason"`              // one plain sentence
	Adjustments []vehicle.Adjustment `json:"adjustments"`         // of model, modelBody and modelCode; never null
}

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

// choose walks down the evidence, best first: the code as it stands under the
// model named, then the code but for a body letter under the model named, then
// the code alone.
func (q *query) choose(code chassis.Code) (Choice, error) {
	exact, relaxed := q.entries.ByCode(code.Code), q.withOtherLetter(code.Code)
	exact, relaxed, conflict := q.withoutFuelConflict(code, exact, relaxed)
	if conflict != nil {
		return Choice{}, conflict
	}
	steps := [][]tra.Label{exact, relaxed}
	if code.Frame { // it may lack its letter, so a label without one is no better
		steps = [][]tra.Label{slices.Concat(exact, relaxed)}
	}
	for _, labels := range steps {
		if found, how := q.named(labels); len(found) > 0 {
			return q.settle(code, found, how)
		}
	}
	if code.Frame && len(relaxed) > 0 || len(exact) == 0 {
		return Choice{}, q.refuseUnnamed(code, slices.Concat(exact, relaxed))
	}
	return q.chooseByCodeAlone(code, exact)
}

// named keeps the labels whose model is the one that the listing names;
// failing that, those whose model is a form of it.
func (q *query) named(labels []tra.Label) ([]tra.Label, relation) {
	for _, how := range []relation{same, form} {
		if found := q.related(labels, how); len(found) > 0 {
			return found, how
		}
	}
	return nil, other
}

func (q *query) related(labels []tra.Label, how relation) []tra.Label {
	var found []tra.Label
	for _, label := range labels {
		if q.name.relationTo(label.Model) == how {
			found = append(found, label)
		}
	}
	return found
}

// chooseByCodeAlone decides when the code is listed, but not under the model
// that the listing names. A listing without a model is taken at its code. A
// longer or shorter form of the name, or a name that the authority does not
// know, is replaced, which costs the match its confidence, when the code is
// the make's only one and the body does not speak against it. A name that the
// authority knows as another car is a contradiction: the code's twin is never
// taken for it.
func (q *query) chooseByCodeAlone(code chassis.Code, exact []tra.Label) (Choice, error) {
	how := q.name.relationTo(exact[0].Model)
	if how == unsaid || len(exact) == 1 && (how == sibling || how == unknown) && !q.otherBody(exact[0]) {
		return q.settle(code, exact, how)
	}
	return Choice{}, q.refuse(AmbiguousMatch, "the authority lists chassis code "+code.Code+" under "+models(exact)+
		", but the listing says "+quote(q.car.Model), code, exact)
}

// otherBody says whether the listing's body is of another class than the
// label's.
func (q *query) otherBody(label tra.Label) bool {
	listed, body := bodyClass(q.car.BodyType), bodyClass(label.Body)
	return listed != "" && body != "" && listed != body
}

// settle accepts one label. Of several it accepts one only if it alone says
// HYBRID and the car is known to be one, or if it alone is of the car's size,
// fuel and year.
func (q *query) settle(code chassis.Code, labels []tra.Label, how relation) (Choice, error) {
	if len(labels) > 1 && q.fuelClass(code) == hybrid {
		labels = onlyOne(labels, tra.Label.Hybrid)
	}
	if len(labels) > 1 {
		labels = onlyOne(labels, func(label tra.Label) bool { return q.fits(code, q.index.of(label)) })
	}
	if len(labels) > 1 {
		return Choice{}, q.refuse(AmbiguousMatch, "several entries of the authority fit chassis code "+code.Code, code, labels)
	}
	label := labels[0]
	if doubt := q.contradiction(code, q.index.of(label)); doubt != nil {
		return Choice{}, doubt
	}
	listed := labelCode(label, code.Code)
	choice := Choice{
		Make: label.Make, Label: label.Text, Code: listed, MatchType: vehicle.ExactCode, EngineCC: q.knownCC(label),
		Reason: q.reason(code, listed, label, how), Adjustments: []vehicle.Adjustment{},
	}
	choice.Adjustments = append(choice.Adjustments, q.modelAdjustment(label, how)...)
	choice.Adjustments = append(choice.Adjustments, codeAdjustment(code, listed)...)
	return choice, nil
}

// onlyOne is the one label for which a condition holds, or all labels when it
// holds for several or none.
func onlyOne(labels []tra.Label, holds func(tra.Label) bool) []tra.Label {
	var kept []tra.Label
	for _, label := range labels {
		if holds(label) {
			kept = append(kept, label)
		}
	}
	if len(kept) == 1 {
		return kept
	}
	return labels
}

// chooseAmong decides for a listing with several codes: they must all lead to
// one label.
func (q *query) chooseAmong(codes []chassis.Code) (Choice, error) {
	var chosen Choice
	var found []tra.Label
	agree := true
	for i, code := range codes {
		choice, err := q.choose(code)
		if err == nil {
			found = append(found, tra.ParseLabel(choice.Make, choice.Label))
		}
		agree = agree && err == nil && (i == 0 || choice.Label == chosen.Label)
		chosen = choice
	}
	if agree {
		return chosen, nil
	}
	return Choice{}, q.refuse(AmbiguousMatch, "the listing gives several chassis codes: "+joinCodes(codes), codes[0], found)
}
