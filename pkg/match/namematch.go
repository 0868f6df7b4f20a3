package match

import (
	"context"
	"fmt"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// noCode begins the messages about a listing without a code.
func (q *query) noCode() string { return "the " + q.source() + " gives no chassis code" }

// chooseByName decides for a listing without a code: by the Chooser if there is
// one, otherwise only when a single entry fits.
func (m *Matcher) chooseByName(ctx context.Context, q *query) (Choice, error) {
	if m.options.Chooser != nil {
		choice, err := m.ask(ctx, q, chassis.Code{}, q.possible(chassis.Code{}, nil))
		if !isNoAnswer(err) {
			return choice, err
		}
		if ctx.Err() != nil {
			return Choice{}, err
		}
		if choice, refused := q.chooseUnique(); refused == nil {
			return choice, nil
		}
		return Choice{}, q.unavailable(chassis.Code{}, err)
	}
	return q.chooseUnique()
}

// unavailable refuses a car that the AI must decide, because the AI gave no
// answer. It is not the answer that no entry fits.
func (q *query) unavailable(code chassis.Code, cause error) *Error {
	refused := q.refuse(AIUnavailable, "the AI that must choose between TRA's entries is not available", code, nil)
	refused.cause = cause
	return refused
}

// possible lists the candidates that satisfy the condition, have no veto and
// bear the name that the listing gives.
func (q *query) possible(code chassis.Code, holds func(ranked) bool) []ranked {
	var kept []ranked
	for _, r := range q.ranked(code) {
		if (holds == nil || holds(r)) && !q.namesOther(q.index.nameplates[r.label.nameplate]) && q.veto(code, r.label) == "" {
			kept = append(kept, r)
		}
	}
	return kept
}

// namesOther reports whether the listing's first name is that of another car.
// Later names in a title may be advertisement or an instruction to the AI.
func (q *query) namesOther(plate nameplate) bool {
	if q.name.relationToWords(plate.words) == other {
		return true
	}
	if len(q.name.mentions) == 0 {
		return false
	}
	first := q.name.mentions[0].key
	return !strings.Contains(first, plate.key) && !strings.Contains(plate.key, first)
}

// rivalSimilarity is the similarity of names above which a second label that
// fits leaves the choice open.
const rivalSimilarity = 0.7

// chooseUnique accepts a label by name only when size, fuel and year are known
// on both sides and agree, and no other label with a similar name could be the
// car.
func (q *query) chooseUnique() (Choice, error) {
	var beyondDoubt []ranked
	for _, r := range q.possible(chassis.Code{}, nil) {
		if r.similarity >= rivalSimilarity && q.fits(chassis.Code{}, r.label) {
			beyondDoubt = append(beyondDoubt, r)
		}
	}
	how := other
	if len(beyondDoubt) == 1 {
		how = q.name.relationTo(beyondDoubt[0].label.Model)
	}
	if (how != same && how != form) || !q.agrees(chassis.Code{}, beyondDoubt[0].label) || q.namesSeveral() {
		return Choice{}, q.refuse(NoMatch, q.noCode()+q.whyNotUnique(len(beyondDoubt)), chassis.Code{}, nil)
	}
	label := beyondDoubt[0].label
	choice := q.fuzzyChoice(vehicle.ByName, label.Label, how)
	choice.Adjustments = append(choice.Adjustments, q.newCode(choice.Code)...)
	choice.Reason = fmt.Sprintf("%s; of the entries for %s %s, %s alone agrees with %s and the year %d",
		q.noCode(), label.Make.Name, label.Model, label.Text, q.described(), q.car.Year)
	return choice, nil
}

func (q *query) whyNotUnique(fitting int) string {
	switch {
	case q.name.model == 0:
		return " and no model"
	case fitting > 1:
		return ", and several TRA entries fit its name, engine, fuel and year"
	default:
		return ", and no TRA entry fits clearly"
	}
}

// namesSeveral reports whether the listing names two cars.
func (q *query) namesSeveral() bool {
	for _, p := range q.name.mentions[min(1, len(q.name.mentions)):] {
		if first := q.name.mentions[0].key; !strings.Contains(first, p.key) && !strings.Contains(p.key, first) {
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

// fuzzyChoice returns the choice of a label that was not found by its code,
// with its adjustments.
func (q *query) fuzzyChoice(by vehicle.MatchedBy, label tra.Label, relation relation) Choice {
	choice := Choice{
		Make: label.Make, Label: label.Text, MatchType: vehicle.LLMFuzzy, MatchedBy: by, EngineCC: q.knownCC(label),
		Adjustments: q.makeAdjustment(label), Electrified: q.electrifiedCounterparts(chassis.Code{}, q.index.of(label)),
	}
	if len(label.Codes) > 0 {
		choice.Code = label.Codes[0]
	}
	for _, a := range q.modelAdjustment(label, relation) {
		switch relation { // no code speaks for it
		case notGiven:
			a.Reason = "the " + q.source() + " gives no model"
		case sibling:
			a.Reason = "the model name is a longer or shorter form of " + label.Model
		case unknown:
			a.Reason = "TRA has no model of this name"
		case same, form, other:
		}
		choice.Adjustments = append(choice.Adjustments, a)
	}
	return choice
}

// newCode reports the code of an entry whose listing gives none.
func (q *query) newCode(code string) []vehicle.Adjustment {
	if code == "" {
		return nil
	}
	return []vehicle.Adjustment{{
		Field: "modelCode", From: "", To: code, Reason: q.noCode() + "; this is the entry's code",
	}}
}

// knownCC returns the engine size of a label's car in cc, 0 when not known.
func (q *query) knownCC(label tra.Label) int { return q.index.of(label).CC }
