package match

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// acrossMakes adds to a refusal the candidates of every make that has the
// code or a model of the listing's name: the make is not known, or in doubt.
// What they propose is never accepted.
func acrossMakes(car vehicle.Car, cat *tra.Catalogue, shelf *shelf, refused *Error) *Error {
	var scored []Scored
	for _, mk := range cat.Makes() {
		entries := entriesOf(cat, mk)
		q := newQuery(car, shelf.of(entries))
		var code chassis.Code
		var fitting []tra.Label
		if codes := listedCodes(car, entries); len(codes) > 0 {
			code = codes[0]
			fitting, _ = q.named(slices.Concat(entries.ByCode(code.Code), q.withOtherLetter(code.Code)))
		}
		if len(fitting) > 0 || len(q.name.plates) > 0 || len(entries.ByCode(code.Code)) > 0 {
			scored = append(scored, q.scored(code, fitting)...)
		}
	}
	slices.SortStableFunc(scored, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	return refused.with(scored)
}

// elsewhere adds to a refusal the candidates of other makes that have a model
// of the listing's name, which its own make has not: the make may be wrong.
func (q *query) elsewhere(cat *tra.Catalogue, shelf *shelf, refused *Error) *Error {
	found := refusal(refused.Code, refused.Message)
	for _, mk := range cat.Makes() {
		other := newQuery(q.car, shelf.of(entriesOf(cat, mk)))
		if mk == q.entries.Make || len(other.name.plates) == 0 {
			continue
		}
		var code chassis.Code
		if codes := listedCodes(q.car, other.entries); len(codes) > 0 {
			code = codes[0]
		}
		fitting, _ := other.named(other.entries.ByCode(code.Code))
		found = found.with(other.scored(code, fitting))
	}
	return found.with(refused.scored)
}

// isForeign says whether the listing names a model, and none that its make
// has or nearly spells.
func (n *name) isForeign() bool { return n.model > 0 && len(n.plates) == 0 && len(n.nearest()) == 0 }

// entriesOf are the labels of a make of the catalogue's.
func entriesOf(cat *tra.Catalogue, mk tra.Make) *tra.Entries {
	entries, _ := cat.Of(mk.Name)
	return entries
}

// namesOtherMake finds a make that the listing's title begins with and that is
// not the listing's own.
func (q *query) namesOtherMake(cat *tra.Catalogue) (tra.Make, bool) {
	if q.name.model == 0 || len(q.name.plates) > 0 && q.name.plates[0].from == 0 {
		return tra.Make{}, false // it begins with a model of the make's
	}
	words := withoutNoise(splitWords(q.car.Model))
	for n := min(2, len(words)); n > 0; n-- {
		if mk, ok := cat.Make(strings.Join(words[:n], " ")); ok && mk != q.entries.Make {
			return mk, true
		}
	}
	return tra.Make{}, false
}
