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
