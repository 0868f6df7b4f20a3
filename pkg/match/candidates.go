package match

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// MaxCandidates is how many entries a refusal names.
const MaxCandidates = 10

// Scored is a candidate with its similarity to the car, from 0 to 1. Scores
// order the candidates of one car; those of two cars do not compare.
type Scored struct {
	Make      string  `json:"make"`
	ModelBody string  `json:"modelBody"`
	Score     float64 `json:"score"`

	candidate vehicle.Candidate // with the facts for a person to choose by
}

// Explain is Choose, with up to ten entries of the authority's that are
// nearest to the car, the chosen one or those that fit first. They are for a
// person to choose from.
func (m *Matcher) Explain(ctx context.Context, car vehicle.Car, cat *catalogue.Catalogue) (Choice, []Scored, error) {
	choice, err := m.Choose(ctx, car, cat)
	if refused, ok := errors.AsType[*Error](err); ok {
		return Choice{}, refused.scored, err
	}
	if err != nil {
		return Choice{}, nil, err
	}
	q := newQuery(car, m.indexes(cat).of(entriesOf(cat, choice.Make)))
	return choice, q.scored(firstCode(car, q.entries), []catalogue.Label{catalogue.ParseLabel(choice.Make, choice.Label)}), nil
}

// maxOthers is how many other entries Others returns.
const maxOthers = 5

// Others returns up to five entries that the car may be instead of the chosen one,
// the likeliest first.
func (m *Matcher) Others(car vehicle.Car, cat *catalogue.Catalogue, choice Choice) (others []vehicle.Candidate) {
	q := newQuery(car, m.indexes(cat).of(entriesOf(cat, choice.Make)))
	for _, s := range q.scored(firstCode(car, q.entries), nil) {
		if s.ModelBody != choice.Label && len(others) < maxOthers {
			others = append(others, s.candidate)
		}
	}
	return others
}

// refuse makes an error that names first the entries that fit, then those
// nearby.
func (q *query) refuse(key string, with values, listed chassis.Code, fitting []catalogue.Label) *Error {
	return refusal(key, with).with(q.scored(listed, fitting))
}

// refuseInOrder is refuse with the fitting entries in the given order.
func (q *query) refuseInOrder(key string, with values, listed chassis.Code, fitting []catalogue.Label) *Error {
	scored := make([]Scored, 0, MaxCandidates)
	for _, label := range fitting[:min(len(fitting), MaxCandidates)] {
		scored = append(scored, q.newScored(listed, q.index.of(label), 1))
	}
	return refusal(key, with).with(scored).with(q.scored(listed, nil))
}

// with adds candidates.
func (e *Error) with(scored []Scored) *Error {
	for _, s := range scored {
		listed := func(c vehicle.Candidate) bool { return c.Make == s.Make && c.ModelBody == s.ModelBody }
		if len(e.Candidates) < MaxCandidates && !slices.ContainsFunc(e.Candidates, listed) {
			e.scored = append(e.scored, s)
			e.Candidates = append(e.Candidates, s.candidate)
		}
	}
	return e
}

// refuseUnnamed refuses a code that is absent, or that the authority has only
// with another body letter under a model that the listing does not name.
func (q *query) refuseUnnamed(code chassis.Code, fitting []catalogue.Label) *Error {
	if len(fitting) == 0 {
		return q.refuse("no_match.code", values{"code": code.Code, "make": q.entries.Make.Name}, code, nil)
	}
	with := q.values("code", code.Code, "models", models(fitting), "model", clip(q.car.Model))
	if q.name.model == 0 {
		return q.refuse("ambiguous_match.letter", with, code, fitting)
	}
	return q.refuse("no_match.letter", with, code, fitting)
}

// scored lists the entries that fit, those of the listing's fuel, size, year
// and body first, and then the nearest others.
func (q *query) scored(code chassis.Code, fitting []catalogue.Label) []Scored {
	class := q.fuelClass(code)
	points := func(label catalogue.Label) float64 {
		if i, ok := q.index.byText[label.Text]; ok {
			return q.features(class, &q.index.labels[i])
		}
		return 0
	}
	fitting = slices.Clone(fitting)
	slices.SortStableFunc(fitting, func(a, b catalogue.Label) int { return cmp.Compare(points(b), points(a)) })
	var scored []Scored
	for _, label := range fitting {
		scored = append(scored, q.newScored(code, q.index.of(label), 1))
	}
	others := q.ranked(code)
	if able := slices.DeleteFunc(slices.Clone(others), func(r ranked) bool { return !q.isPossible(r.label) }); len(able) > 0 {
		others = able // entries that cannot be the car are listed only when there are no others
	}
	for _, r := range others {
		if len(scored) >= MaxCandidates {
			break
		}
		if !slices.ContainsFunc(scored, func(o Scored) bool { return o.ModelBody == r.label.Text }) {
			scored = append(scored, q.newScored(code, r.label, math.Round(1000*r.score)/1000))
		}
	}
	return scored[:min(len(scored), MaxCandidates)]
}

// isPossible reports whether an entry can be the car by its years and engine.
func (q *query) isPossible(label *indexed) bool {
	return (q.car.Year == 0 || label.YearsOff(q.car.Year) <= 1) && !ccFarOff(q.car.EngineCC, label.CC)
}

func (q *query) newScored(code chassis.Code, label *indexed, score float64) Scored {
	near, why := q.compareTo(code, label)
	return Scored{label.Make.Name, label.Text, score, vehicle.Candidate{
		Make: label.Make.Name, ModelBody: label.Text, EngineCC: label.CC, Fuel: string(label.fuel),
		YearFrom: label.From, YearTo: label.To, BodyType: label.Body, Nearness: near, Why: why.EN, Text: &why,
	}}
}

// compareTo says how near an entry is to the car, and what agrees or does not.
func (q *query) compareTo(code chassis.Code, label *indexed) (near vehicle.Nearness, why message.Text) {
	parts := message.Parts{Separator: ", "}
	near = vehicle.NearFamily
	if code.Code != "" {
		switch similarity := codeSimilarity(code.Code, signatureOf(code.Code), label); {
		case labelCode(label.Label, code.Code) != "":
			near = vehicle.NearExact
			parts.Add("why/same_code", nil)
		case similarity >= scoreOneEdit:
			near = vehicle.NearCode
			parts.Add("why/similar_code", nil)
		default:
			parts.Add("why/other_code", nil)
		}
	}
	if drive := signalOf(q.car, code); near == vehicle.NearFamily && drive.isElectrified() && isElectrified(label.fuel) {
		near = vehicle.NearCode
	}
	switch q.name.relationTo(label.Model) {
	case same, form:
		parts.Add("why/same_model", nil)
	case sibling:
		parts.Add("why/sibling_model", nil)
	case unknown, other:
		parts.Add("why/other_model", nil)
	case notGiven:
	}
	q.compareFacts(&parts, code, label)
	return near, parts.Text()
}

// compareFacts compares engine size, fuel and year as far as both are known.
func (q *query) compareFacts(parts *message.Parts, code chassis.Code, label *indexed) {
	if q.car.EngineCC > 0 && label.CC > 0 {
		if abs(q.car.EngineCC-label.CC) <= ccAgrees {
			parts.Add("why/same_engine", nil)
		} else {
			parts.Add("why/other_engine", values{"cc": strconv.Itoa(label.CC), "listed": strconv.Itoa(q.car.EngineCC)})
		}
	}
	class := q.fuelClass(code)
	if says := signalOf(q.car, code); says.isElectrified() {
		class = says.class
	}
	if class != "" && label.fuel != "" {
		if authorityClass(class) == authorityClass(label.fuel) {
			parts.Add("why/same_fuel", nil)
		} else {
			parts.Add("why/other_fuel", values{"fuel": string(label.fuel), "listed": string(class)})
		}
	}
	switch off := label.YearsOff(q.car.Year); {
	case q.car.Year == 0 || !label.IsDated():
	case off == 0:
		parts.Add("why/same_year", nil)
	default:
		parts.Add("why/other_year", values{"years": label.Years(), "listed": strconv.Itoa(q.car.Year)})
	}
}

// models returns the different models of labels.
func models(labels []catalogue.Label) string {
	var names []string
	for _, label := range labels {
		if !slices.Contains(names, label.Model) {
			names = append(names, label.Model)
		}
	}
	return strings.Join(names, ", ")
}

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

// entriesOf returns the labels of a make of the catalogue.
func entriesOf(cat *catalogue.Catalogue, mk catalogue.Make) *catalogue.Entries {
	entries, _ := cat.Of(mk.Name)
	return entries
}

// ranked is a label with its score.
type ranked struct {
	label      *indexed
	similarity float64 // of the names, see similarities
	score      float64
}

// The maximum points of each similarity.
const (
	pointsName = 40.0
	pointsCode = 30.0
	maxPoints  = pointsName + pointsCode + pointsFact
)

// minSimilarity is the similarity of names below which a label is a candidate only
// with a similar code.
const minSimilarity = 0.3

// ranked lists the make's labels that may be the car, best first.
func (q *query) ranked(code chassis.Code) []ranked {
	like, written := q.similarities(), signatureOf(code.Code)
	nameless, class := q.name.model == 0, q.fuelClass(code)
	var all []ranked
	for i := range q.index.labels {
		label := &q.index.labels[i]
		near := 0.0
		if code.Code != "" {
			near = codeSimilarity(code.Code, written, label)
		}
		name := like[label.nameplate]
		if (nameless || name < minSimilarity) && near < scoreOneEdit {
			continue
		}
		points := pointsName*name*name + pointsCode*near + q.features(class, label)
		all = append(all, ranked{label, name, min(max(points/maxPoints, 0), 0.999)})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return all
}

// pointsFact is the most that features gives.
const pointsFact = 15.0 + 8 + 8 + 4

// features scores what a label's car has in common with the listing apart
// from name and code. Unknown counts for a little, a contradiction against it.
func (q *query) features(class facts.Fuel, label *indexed) float64 {
	return q.sizePoints(label.Fact) + fuelPoints(class, label.fuel) +
		q.yearPoints(label.Fact) + q.bodyPoints(label)
}

func (q *query) sizePoints(fact facts.Fact) float64 {
	off := abs(q.car.EngineCC - fact.CC)
	switch {
	case q.car.EngineCC <= 0 || fact.CC <= 0:
		return 5
	case off <= ccAgrees:
		return 15
	case off <= ccWindow:
		return 12
	case !ccFarOff(q.car.EngineCC, fact.CC):
		return 6
	}
	return -15
}

func fuelPoints(listed, known facts.Fuel) float64 {
	switch {
	case listed == "" || known == "":
		return 3
	case authorityClass(listed) == authorityClass(known):
		return 8
	case !fuelsClash(listed, known, false):
		return -4
	}
	return -15
}

func (q *query) yearPoints(fact facts.Fact) float64 {
	off := fact.YearsOff(q.car.Year)
	switch {
	case q.car.Year == 0 || !fact.IsDated():
		return 3
	case off == 0:
		return 8
	case off == 1:
		return 6
	case off <= maxYearGap:
		return 0
	}
	return -8
}

func (q *query) bodyPoints(label *indexed) float64 {
	switch {
	case bodiesConflict(q.body, label.body):
		return -8
	case q.body != "" && q.body == label.body:
		return 4
	}
	return 0
}

// The similarity of a code to those of a label.
const (
	scoreStem      = 1.0  // the same but for the body letter
	scoreLookalike = 0.85 // one character misread: 0 for O
	scoreOneEdit   = 0.6  // one typing error
	scoreTwoEdits  = 0.2
	scoreEqual     = 1.0
)

// codeSimilarity compares a code that the listing gives with a label's. It makes
// candidates and never an answer.
func codeSimilarity(code string, written signature, label *indexed) float64 {
	best := 0.0
	stem, _ := chassis.Stem(code)
	for i, c := range label.Codes {
		if !written.near(label.codes[i]) || abs(len(c)-len(code)) > 2 {
			continue
		}
		if labelStem, _ := chassis.Stem(c); labelStem == stem {
			return scoreStem
		}
		switch d := naming.Distance(code, c); {
		case d == 0:
			return scoreEqual
		case isLookalike(code, c):
			best = max(best, scoreLookalike)
		case d == 1:
			best = max(best, scoreOneEdit)
		case d == 2:
			best = max(best, scoreTwoEdits)
		}
	}
	return best
}

// isLookalike reports whether two codes differ only in characters that look alike,
// in at most two places.
func isLookalike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	swaps := 0
	for i := range len(a) {
		if a[i] == b[i] {
			continue
		}
		if swaps++; fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return 0 < swaps && swaps <= 2
}

// lookAlikes folds characters that are misread for each other.
var lookAlikes = map[byte]byte{'O': '0', 'Q': '0', 'D': '0', 'I': '1', 'L': '1', 'Z': '2', 'S': '5', 'B': '8', 'G': '6'}

func fold(b byte) byte {
	if like, ok := lookAlikes[b]; ok {
		return like
	}
	return b
}
