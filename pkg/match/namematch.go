package match

import (
	"context"
	"fmt"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// noCode is the beginning of every refusal for want of a code.
const noCode = "the listing gives no chassis code"

// chooseByName decides for a listing without a code: the Chooser, if there is
// one that answers; else only what is clear beyond doubt.
func (m *Matcher) chooseByName(ctx context.Context, q *query) (Choice, error) {
	if m.options.Chooser != nil {
		choice, err := m.ask(ctx, q, chassis.Code{}, q.possible(chassis.Code{}, nil))
		if !choiceFailed(err) {
			return choice, err
		}
		if ctx.Err() != nil {
			return Choice{}, err
		}
	}
	return q.chooseClear()
}

// possible lists the candidates that no veto and no condition rules out, nor
// that the listing names another model.
func (q *query) possible(code chassis.Code, holds func(ranked) bool) []ranked {
	var kept []ranked
	for _, r := range q.ranked(code) {
		if (holds == nil || holds(r)) && !q.namesOther(q.index.plates[r.label.plate]) && q.veto(code, r.label) == "" {
			kept = append(kept, r)
		}
	}
	return kept
}

// namesOther says whether the listing's first name is another car's than the
// plate's. What stands later in a title may be an advertisement or an
// instruction.
func (q *query) namesOther(plate nameplate) bool {
	if q.name.relationToWords(plate.words) == other {
		return true
	}
	if len(q.name.plates) == 0 {
		return false
	}
	first := q.name.plates[0].key
	return !strings.Contains(first, plate.key) && !strings.Contains(plate.key, first)
}

// rival is the likeness of names from which a label that fits as well leaves
// the choice open.
const rival = 0.7

// chooseClear accepts a label by name only when size, fuel and year are known
// on both sides and agree, and no other label of a like name could be the car.
func (q *query) chooseClear() (Choice, error) {
	var beyondDoubt []ranked
	for _, r := range q.possible(chassis.Code{}, nil) {
		if r.like >= rival && q.fits(chassis.Code{}, r.label) {
			beyondDoubt = append(beyondDoubt, r)
		}
	}
	how := other
	if len(beyondDoubt) == 1 {
		how = q.name.relationTo(beyondDoubt[0].label.Model)
	}
	if (how != same && how != form) || !q.agrees(chassis.Code{}, beyondDoubt[0].label) || q.manyNamed() {
		return Choice{}, q.refuse(NoMatch, noCode+q.whyNotClear(len(beyondDoubt)), chassis.Code{}, nil)
	}
	label := beyondDoubt[0].label
	choice := q.fuzzyChoice(vehicle.NameFuzzy, label.Label, how)
	choice.Reason = fmt.Sprintf("%s; of the entries for %s %s, %s alone agrees with %s and the year %d",
		noCode, label.Make.Name, label.Model, label.Text, q.described(), q.car.Year)
	return choice, nil
}

func (q *query) whyNotClear(fitting int) string {
	switch {
	case q.name.model == 0:
		return " and no model"
	case fitting > 1:
		return ", and several entries of the authority fit its name, engine, fuel and year"
	default:
		return ", and no entry of the authority fits beyond doubt"
	}
}

// manyNamed says whether the listing names two cars.
func (q *query) manyNamed() bool {
	for _, p := range q.name.plates[min(1, len(q.name.plates)):] {
		if first := q.name.plates[0].key; !strings.Contains(first, p.key) && !strings.Contains(p.key, first) {
			return true
		}
	}
	return false
}

func (q *query) described() string {
	class := q.fuelClass(chassis.Code{})
	if q.car.EngineCC > 0 {
		return fmt.Sprintf("%d cc, %s", q.car.EngineCC, class)
	}
	return string(class)
}

// fuzzyChoice is a label taken without its code, with what differs.
func (q *query) fuzzyChoice(how vehicle.MatchType, label tra.Label, relation relation) Choice {
	choice := Choice{
		Make: label.Make, Label: label.Text, MatchType: how, EngineCC: q.knownCC(label), Adjustments: []vehicle.Adjustment{},
	}
	if len(label.Codes) > 0 {
		choice.Code = label.Codes[0]
	}
	for _, a := range q.modelAdjustment(label, relation) {
		switch relation { // no code speaks for it
		case unsaid:
			a.Reason = "the listing names no model"
		case sibling:
			a.Reason = "the entry has the longer or shorter name " + label.Model
		case unknown:
			a.Reason = "the authority has no model of the listing's name"
		case same, form, other:
		}
		choice.Adjustments = append(choice.Adjustments, a)
	}
	return choice
}

// knownCC is the engine size that is known of a label's car.
func (q *query) knownCC(label tra.Label) int { return q.index.of(label).CC }
