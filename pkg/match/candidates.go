package match

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// maxCandidates is how many entries a refusal names.
const maxCandidates = 10

// Candidates lists up to ten entries of the authority's that are nearest to a
// car, best first: those of its model, near codes before far ones. They are
// for a person to choose from; none is accepted.
func Candidates(car vehicle.Car, cat *tra.Catalogue) []vehicle.Candidate {
	entries, ok := cat.Of(car.Make)
	if !ok {
		return nil
	}
	q := &query{car: car, entries: entries, name: readName(car, entries)}
	var code chassis.Code
	if codes := listedCodes(car, entries); len(codes) > 0 {
		code = codes[0]
	}
	return q.refuse("", "", code, nil).Candidates
}

// refuse makes an error that names first the entries that fit, then those
// nearby.
func (q *query) refuse(code, message string, listed chassis.Code, fitting []tra.Label) *Error {
	e := refusal(code, message)
	for _, label := range slices.Concat(q.byBody(fitting), q.nearby(listed)) {
		c := vehicle.Candidate{Make: label.Make.Name, ModelBody: label.Text}
		if len(e.Candidates) < maxCandidates && !slices.Contains(e.Candidates, c) {
			e.Candidates = append(e.Candidates, c)
		}
	}
	return e
}

// refuseUnnamed refuses a code that is absent, or that the authority has only
// with another body letter under a model that the listing does not name.
func (q *query) refuseUnnamed(code chassis.Code, fitting []tra.Label) *Error {
	if len(fitting) == 0 {
		message := "chassis code " + code.Code + " is not in the authority's database under " + q.entries.Make.Name
		return q.refuse(NoMatch, message, code, nil)
	}
	message := "the authority has chassis code " + code.Code + " only but for its body letter, under " + models(fitting)
	if q.name.model == 0 {
		return q.refuse(AmbiguousMatch, message+", and the listing names no model", code, fitting)
	}
	return q.refuse(NoMatch, message+", and the listing says "+quote(q.car.Model), code, fitting)
}

// nearby lists entries of the same model, body-letter variants and near codes
// first. When the model is unknown it lists entries whose code is one
// character off. They are neighbours to show, never answers.
func (q *query) nearby(code chassis.Code) []tra.Label {
	type ranked struct {
		label                tra.Label
		relation, code, body int
	}
	relations := map[string]relation{}
	body := bodyClass(q.car.BodyType)
	var near []ranked
	for _, label := range q.entries.Labels {
		how, seen := relations[label.Model]
		if !seen {
			how = q.name.relationTo(label.Model)
			relations[label.Model] = how
		}
		nameless := how == unsaid || how == unknown
		if how == other || nameless && code.Code == "" {
			continue
		}
		r := ranked{label: label, relation: int(how), code: codeDistance(code, label)}
		if nameless && r.code > 1 {
			continue
		}
		if body != "" && bodyClass(label.Body) != body {
			r.body = 1
		}
		near = append(near, r)
	}
	slices.SortStableFunc(near, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.relation, b.relation), cmp.Compare(a.code, b.code), cmp.Compare(a.body, b.body))
	})
	labels := make([]tra.Label, 0, maxCandidates)
	for _, r := range near[:min(len(near), maxCandidates)] {
		labels = append(labels, r.label)
	}
	return labels
}

// codeDistance orders neighbours: 0 for the same code but for the body letter.
func codeDistance(code chassis.Code, label tra.Label) int {
	nearest := farApart
	stem, _ := chassis.Stem(code.Code)
	for _, c := range label.Codes {
		if labelStem, _ := chassis.Stem(c); labelStem == stem {
			return 0
		}
		nearest = min(nearest, distance(code.Code, c))
	}
	return nearest
}

// byBody puts the entries with the listing's body first.
func (q *query) byBody(labels []tra.Label) []tra.Label {
	body := bodyClass(q.car.BodyType)
	sorted := slices.Clone(labels)
	slices.SortStableFunc(sorted, func(a, b tra.Label) int {
		return cmp.Compare(b2i(bodyClass(a.Body) != body), b2i(bodyClass(b.Body) != body))
	})
	return sorted
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// models names the models of some labels, each once.
func models(labels []tra.Label) string {
	var names []string
	for _, label := range labels {
		if !slices.Contains(names, label.Model) {
			names = append(names, label.Model)
		}
	}
	return strings.Join(names, ", ")
}
