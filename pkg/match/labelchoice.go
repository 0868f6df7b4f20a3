package match

import (
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// ChooseLabel accepts the label that the caller chose for a car, for example
// after a refusal. The label must be one of the make's; otherwise the error is
// no_match with candidates. Every value of the listing that differs from the
// label's is an adjustment, and the match is low.
func (m *Matcher) ChooseLabel(car vehicle.Car, cat *catalogue.Catalogue, modelBody string) (Choice, error) {
	label, found := m.labelOf(car, cat, modelBody)
	if !found {
		refused := refusal("no_match.label", values{"entry": clip(modelBody), "make": clip(car.Make)})
		if q, err := m.query(car, cat); err == nil {
			refused = refused.with(q.scored(chassis.Code{}, nil))
		}
		return Choice{}, refused
	}
	q := newQuery(car, m.indexes(cat).of(entriesOf(cat, label.Make)))
	choice := q.fuzzyChoice(vehicle.ByCaller, label, q.name.relationTo(label.Model)).because(message.New("match/chosen", nil))
	choice.Adjustments = append(choice.Adjustments, q.conflicts(label)...)
	if len(choice.Adjustments) == 0 {
		chosen := vehicle.Adjusted("modelBody", q.car.Model, label.Text, "chosen", nil)
		choice.Adjustments = append(choice.Adjustments, chosen)
	}
	return choice, nil
}

// labelOf finds a label of the listing's make by its text. A listing whose
// make the authority does not know may have a label of any make.
func (m *Matcher) labelOf(car vehicle.Car, cat *catalogue.Catalogue, modelBody string) (catalogue.Label, bool) {
	wanted := foldLabel(modelBody)
	makes := cat.Makes()
	if entries, ok := cat.Of(car.Make); ok {
		makes = []catalogue.Make{entries.Make}
	}
	var found []catalogue.Label
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
		return catalogue.Label{}, false
	}
	return found[0], true
}

// foldLabel folds case and white space, in which a typed label may differ.
func foldLabel(text string) string { return strings.ToUpper(strings.Join(strings.Fields(text), " ")) }

// conflicts lists the values of the listing that differ from a label's: model,
// code, engine and body. Resolve compares year and fuel later.
func (q *query) conflicts(label catalogue.Label) (adjusted []vehicle.Adjustment) {
	if q.name.relationTo(label.Model) == other {
		adjusted = append(adjusted, vehicle.Adjusted("model", q.car.Model, label.Model, "chosen_model", nil))
	}
	codes := listedCodes(q.car, q.entries)
	if len(codes) == 0 && len(label.Codes) > 0 {
		adjusted = append(adjusted, q.newCode(strings.Join(label.Codes, ", "))...)
	}
	if len(codes) > 0 && labelCode(label, codes[0].Code) == "" {
		chosen := strings.Join(label.Codes, ", ")
		adjusted = append(adjusted, vehicle.Adjusted("modelCode", codes[0].Raw, chosen, "chosen_code", nil))
	}
	fact := q.index.of(label).Fact
	if ccFarOff(q.car.EngineCC, fact.CC) {
		adjusted = append(adjusted, vehicle.Adjusted("engine_cc", q.car.EngineCC, fact.CC, "chosen_engine",
			q.of("engine_cc", "cc", strconv.Itoa(fact.CC), "listed", strconv.Itoa(q.car.EngineCC))))
	}
	if bodiesConflict(q.body, bodyClass(label.Body)) {
		adjusted = append(adjusted, vehicle.Adjusted("bodyType", q.car.BodyType, label.Body, "chosen_body", nil))
	}
	return adjusted
}
