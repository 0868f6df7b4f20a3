package match

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
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
}

// Explain is Choose, with up to ten entries of the authority's that are
// nearest to the car, the chosen one or those that fit first. They are for a
// person to choose from.
func (m *Matcher) Explain(ctx context.Context, car vehicle.Car, cat *tra.Catalogue) (Choice, []Scored, error) {
	choice, err := m.Choose(ctx, car, cat)
	if refused, ok := errors.AsType[*Error](err); ok {
		return Choice{}, refused.scored, err
	}
	if err != nil {
		return Choice{}, nil, err
	}
	q := newQuery(car, m.indexes(cat).of(entriesOf(cat, choice.Make)))
	var code chassis.Code
	if codes := listedCodes(car, q.entries); len(codes) > 0 {
		code = codes[0]
	}
	return choice, q.scored(code, []tra.Label{tra.ParseLabel(choice.Make, choice.Label)}), nil
}

// refuse makes an error that names first the entries that fit, then those
// nearby.
func (q *query) refuse(code, message string, listed chassis.Code, fitting []tra.Label) *Error {
	return refusal(code, message).with(q.scored(listed, fitting))
}

// refuseInOrder is refuse with the fitting entries in the given order.
func (q *query) refuseInOrder(code, message string, listed chassis.Code, fitting []tra.Label) *Error {
	var scored []Scored
	for _, label := range fitting[:min(len(fitting), MaxCandidates)] {
		scored = append(scored, Scored{label.Make.Name, label.Text, 1})
	}
	return refusal(code, message).with(scored).with(q.scored(listed, nil))
}

// with adds candidates.
func (e *Error) with(scored []Scored) *Error {
	for _, s := range scored {
		c := vehicle.Candidate{Make: s.Make, ModelBody: s.ModelBody}
		if len(e.Candidates) < MaxCandidates && !slices.Contains(e.Candidates, c) {
			e.scored = append(e.scored, s)
			e.Candidates = append(e.Candidates, c)
		}
	}
	return e
}

// refuseUnnamed refuses a code that is absent, or that the authority has only
// with another body letter under a model that the listing does not name.
func (q *query) refuseUnnamed(code chassis.Code, fitting []tra.Label) *Error {
	if len(fitting) == 0 {
		message := "chassis code " + code.Code + " is not in TRA's database under " + q.entries.Make.Name
		return q.refuse(NoMatch, message, code, nil)
	}
	message := "TRA has chassis code " + code.Code + " only with another body letter, under " + models(fitting)
	if q.name.model == 0 {
		return q.refuse(AmbiguousMatch, message+", and the "+q.source()+" gives no model", code, fitting)
	}
	return q.refuse(NoMatch, message+", and the "+q.source()+" says "+quote(q.car.Model), code, fitting)
}

// scored lists the entries that fit, those of the listing's fuel, size, year
// and body first, and then the nearest others.
func (q *query) scored(code chassis.Code, fitting []tra.Label) []Scored {
	class := q.fuelClass(code)
	points := func(label tra.Label) float64 {
		if i, ok := q.index.byText[label.Text]; ok {
			return q.features(class, &q.index.labels[i])
		}
		return 0
	}
	fitting = slices.Clone(fitting)
	slices.SortStableFunc(fitting, func(a, b tra.Label) int { return cmp.Compare(points(b), points(a)) })
	var scored []Scored
	for _, label := range fitting {
		scored = append(scored, Scored{label.Make.Name, label.Text, 1})
	}
	for _, r := range q.ranked(code) {
		if len(scored) >= MaxCandidates {
			break
		}
		if s := r.scored(); !slices.ContainsFunc(scored, func(o Scored) bool { return o.ModelBody == s.ModelBody }) {
			scored = append(scored, s)
		}
	}
	return scored[:min(len(scored), MaxCandidates)]
}

func (r ranked) scored() Scored {
	return Scored{r.label.Make.Name, r.label.Text, math.Round(1000*r.score) / 1000}
}

// models returns the different models of labels.
func models(labels []tra.Label) string {
	var names []string
	for _, label := range labels {
		if !slices.Contains(names, label.Model) {
			names = append(names, label.Model)
		}
	}
	return strings.Join(names, ", ")
}
