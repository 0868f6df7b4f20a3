package match

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// acrossMakes adds to a refusal the candidates of every make that has the code
// or a model of the listing's name, because the make is not known or in doubt.
// They are never accepted.
func acrossMakes(car vehicle.Car, cat *catalogue.Catalogue, indexes *indexCache, refused *Error) *Error {
	var scored []Scored
	for _, mk := range cat.Makes() {
		entries := entriesOf(cat, mk)
		q := newQuery(car, indexes.of(entries))
		var fitting []catalogue.Label
		code := firstCode(car, entries)
		if code.Code != "" {
			fitting, _ = q.byModel(slices.Concat(entries.ByCode(code.Code), q.withOtherLetter(code.Code)))
		}
		if len(fitting) > 0 || len(q.name.mentions) > 0 || len(entries.ByCode(code.Code)) > 0 {
			scored = append(scored, q.scored(code, fitting)...)
		}
	}
	slices.SortStableFunc(scored, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	return refused.with(scored)
}

// otherMakes adds to a refusal the candidates of other makes that have a model
// of the listing's name when its own make has none: the make may be wrong.
func (q *query) otherMakes(cat *catalogue.Catalogue, indexes *indexCache, refused *Error) *Error {
	found := &Error{Notice: refused.Notice}
	for _, mk := range cat.Makes() {
		other := newQuery(q.car, indexes.of(entriesOf(cat, mk)))
		if mk == q.entries.Make || len(other.name.mentions) == 0 {
			continue
		}
		code := firstCode(q.car, other.entries)
		fitting, _ := other.byModel(other.entries.ByCode(code.Code))
		found = found.with(other.scored(code, fitting))
	}
	return found.with(refused.scored)
}

// isForeign reports whether the listing names a model that its make does not
// have, not even with another spelling.
func (n *name) isForeign() bool { return n.model > 0 && len(n.mentions) == 0 && len(n.nearest()) == 0 }

// entriesOf returns the labels of a make of the catalogue.
func entriesOf(cat *catalogue.Catalogue, mk catalogue.Make) *catalogue.Entries {
	entries, _ := cat.Of(mk.Name)
	return entries
}

// namesOtherMake returns the make that begins the listing's title, if it is not
// the listing's make.
func (q *query) namesOtherMake(cat *catalogue.Catalogue) (catalogue.Make, bool) {
	if q.name.model == 0 || len(q.name.mentions) > 0 && q.name.mentions[0].from == 0 {
		return catalogue.Make{}, false // it begins with a model of the make's
	}
	words := withoutNoise(naming.Words(q.car.Model))
	for n := min(2, len(words)); n > 0; n-- {
		if mk, ok := cat.Make(strings.Join(words[:n], " ")); ok && mk != q.entries.Make {
			return mk, true
		}
	}
	return catalogue.Make{}, false
}
