package match

import (
	"fmt"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// ChooseLabel takes the label that the caller chose for a car, as the caller
// may after a refusal. The label must be one of the make's; otherwise the
// answer is a no_match with candidates. What the listing says against the
// label is adjusted, one by one, and the match is graded low.
func (m *Matcher) ChooseLabel(car vehicle.Car, cat *tra.Catalogue, modelBody string) (Choice, error) {
	label, found := m.labelOf(car, cat, modelBody)
	if !found {
		refused := refusal(NoMatch, "the authority lists no entry "+quote(modelBody)+" for "+quote(car.Make))
		if q, err := m.query(car, cat); err == nil {
			refused = refused.with(q.scored(chassis.Code{}, nil))
		}
		return Choice{}, refused
	}
	q := newQuery(car, m.shelfOf(cat).of(entriesOf(cat, label.Make)))
	choice := q.fuzzyChoice(vehicle.NameFuzzy, label, q.name.relationTo(label.Model))
	choice.Reason = "the caller chose this entry"
	choice.Adjustments = append(choice.Adjustments, q.against(label)...)
	return choice, nil
}

// labelOf finds a label of the listing's make by its text. A listing whose
// make the authority does not know may have a label of any make.
func (m *Matcher) labelOf(car vehicle.Car, cat *tra.Catalogue, modelBody string) (tra.Label, bool) {
	wanted := foldLabel(modelBody)
	makes := cat.Makes()
	if entries, ok := cat.Of(car.Make); ok {
		makes = []tra.Make{entries.Make}
	}
	var found []tra.Label
	for _, mk := range makes {
		for _, label := range cat.Labels(mk.Name) {
			if label.Text == modelBody {
				return label, true
			}
			if foldLabel(label.Text) == wanted {
				found = append(found, label)
			}
		}
	}
	if len(found) != 1 {
		return tra.Label{}, false
	}
	return found[0], true
}

// foldLabel folds case and white space: what a person may type otherwise.
func foldLabel(text string) string { return strings.ToUpper(strings.Join(strings.Fields(text), " ")) }

// against lists what the listing says against a label: another model, code,
// engine or body. Year and fuel are held against the authority's lists later.
func (q *query) against(label tra.Label) (adjusted []vehicle.Adjustment) {
	if q.name.relationTo(label.Model) == other {
		adjusted = append(adjusted, vehicle.Adjustment{
			Field: "model", From: q.car.Model, To: label.Model, Reason: "the caller chose an entry of another model",
		})
	}
	if codes := listedCodes(q.car, q.entries); len(codes) > 0 && labelCode(label, codes[0].Code) == "" {
		adjusted = append(adjusted, vehicle.Adjustment{
			Field: "modelCode", From: codes[0].Raw, To: strings.Join(label.Codes, ", "),
			Reason: "the caller chose an entry of another chassis code",
		})
	}
	fact := q.index.of(label).Fact
	if ccFarOff(q.car.EngineCC, fact.CC) {
		adjusted = append(adjusted, vehicle.Adjustment{
			Field: "engine_cc", From: q.car.EngineCC, To: fact.CC,
			Reason: fmt.Sprintf("the entry that the caller chose has %d cc; the band is of the listing's size", fact.CC),
		})
	}
	if bodiesFar(q.body, bodyClass(label.Body)) {
		adjusted = append(adjusted, vehicle.Adjustment{
			Field: "bodyType", From: q.car.BodyType, To: label.Body, Reason: "the caller chose an entry of another body",
		})
	}
	return adjusted
}
