package match

import (
	"context"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

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
	refused := q.refuse("ai_unavailable.match", nil, code, nil)
	refused.cause = cause
	return refused
}

// possible lists the candidates that satisfy the condition, have no veto and
// bear the name that the listing gives.
func (q *query) possible(code chassis.Code, holds func(ranked) bool) []ranked {
	var kept []ranked
	for _, r := range q.ranked(code) {
		if (holds == nil || holds(r)) && !q.namesOther(q.index.nameplates[r.label.nameplate]) &&
			q.veto(code, r.label) == (message.Text{}) {
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
		return Choice{}, q.refuse("no_match."+q.whyNotUnique(len(beyondDoubt)), q.values(), chassis.Code{}, nil)
	}
	label := beyondDoubt[0].label
	choice := q.fuzzyChoice(vehicle.ByName, label.Label, how)
	choice.Adjustments = append(choice.Adjustments, q.newCode(choice.Code)...)
	return choice.because(message.New("match/name", q.values("make", label.Make.Name, "model", label.Model,
		"entry", label.Text, "engine", q.engine(), "fuel", string(q.fuelClass(chassis.Code{})),
		"year", strconv.Itoa(q.car.Year)))), nil
}

func (q *query) whyNotUnique(fitting int) string {
	switch {
	case q.name.model == 0:
		return "no_model"
	case fitting > 1:
		return "several"
	default:
		return "unclear"
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

// engine returns the engine size for a sentence, before the fuel.
func (q *query) engine() string {
	if q.car.EngineCC > 0 {
		return strconv.Itoa(q.car.EngineCC) + " cc, "
	}
	return ""
}

// fuzzyChoice returns the choice of a label that was not found by its code,
// with its adjustments.
func (q *query) fuzzyChoice(by vehicle.MatchedBy, label catalogue.Label, relation relation) Choice {
	choice := Choice{
		Make: label.Make, Label: label.Text, MatchType: vehicle.LLMFuzzy, MatchedBy: by, EngineCC: q.index.of(label).CC,
		Adjustments: q.makeAdjustment(label), Electrified: q.electrifiedCounterparts(chassis.Code{}, q.index.of(label)),
	}
	if len(label.Codes) > 0 {
		choice.Code = label.Codes[0]
	}
	choice.Adjustments = append(choice.Adjustments, q.modelAdjustment(label, relation, "")...) // no code speaks for it
	return choice
}

// newCode reports as an adjustment that the chosen entry has a chassis code and the listing
// gives none.
func (q *query) newCode(code string) []vehicle.Adjustment {
	if code == "" {
		return nil
	}
	return []vehicle.Adjustment{vehicle.Adjusted("modelCode", "", code, "code_new", q.values())}
}
