// Package match finds a listed car in the authority's database. It has two
// steps, because only the second one needs the authority: Choose selects the
// label by make, model and chassis code from the catalogue; Resolve requests
// the label's years, countries, fuels and engine bands and chooses one of each.
//
// The key is (make, model, code), never the code alone: badge twins share
// codes, and some codes belong to two makes. Codes are compared character by
// character, never by similarity, because nearly every code has another real
// code one character away. Only a listing without a usable code is matched by
// name, size, fuel and year: by a Chooser, or without one when a single entry
// fits. When several labels fit, or the listing contradicts itself, the result
// is a typed refusal with candidates. docs/matching.md describes the rules.
package match

import (
	"slices"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// Choice is the label chosen for a car. It can be stored as JSON between the
// two steps.
type Choice struct {
	Make        catalogue.Make       `json:"make"`
	Label       string               `json:"label"` // byte for byte
	Code        string               `json:"code"`  // the label's chassis code
	MatchType   vehicle.MatchType    `json:"matchType"`
	EngineCC    int                  `json:"engine_cc,omitempty"` // of the label's car; 0 when not known
	MatchedBy   vehicle.MatchedBy    `json:"matchedBy"`
	Reason      string               `json:"reason"` // one plain sentence
	Why         message.Notice       `json:"why,omitzero"`
	Adjustments []vehicle.Adjustment `json:"adjustments"` // of make, model, modelBody and modelCode; never null
	// Electrified are hybrid and electric labels of the model, of a car that the
	// listing calls a hybrid. Resolve then does not accept a petrol fuel.
	Electrified []string `json:"electrified,omitempty"`
}

// because returns the choice with its reason.
func (c Choice) because(why message.Notice) Choice {
	c.Why, c.Reason = why, why.Message
	return c
}

// joined returns two parts of a reason as one.
func joined(a, b message.Notice) message.Notice { return a.Then("; ", b) }

// choose uses the best evidence that there is: the exact code under the named
// model, then the code without its body letter under the named model, then the
// code alone. A full code that is letter for letter another model's belongs to that
// model: its letter is neither dropped nor added to reach the model named.
func (q *query) choose(code chassis.Code) (Choice, error) {
	exact, relaxed := q.entries.ByCode(code.Code), q.withOtherLetter(code.Code)
	exact, relaxed, conflict := q.withoutFuelConflict(code, exact, relaxed)
	if conflict != nil {
		return Choice{}, conflict
	}
	if named := q.related(relaxed, same); !code.Frame && len(named) > 0 && q.areOthers(exact) {
		with := q.values("code", code.Code, "models", models(exact), "model", clip(q.car.Model))
		return Choice{}, q.refuseInOrder("ambiguous_match.other_model", with, code, slices.Concat(exact, named))
	}
	steps := [][]catalogue.Label{exact, relaxed}
	if code.Frame { // a frame number may lack the letter, so a label without one is not better
		steps = [][]catalogue.Label{slices.Concat(exact, relaxed)}
	}
	for _, labels := range steps {
		if found, how := q.byModel(labels); len(found) > 0 {
			return q.acceptOne(code, found, how)
		}
	}
	if code.Frame && len(relaxed) > 0 || len(exact) == 0 {
		return Choice{}, q.refuseUnnamed(code, slices.Concat(exact, relaxed))
	}
	return q.chooseByCodeAlone(code, exact)
}

// areOthers reports labels that are all of other models than the one named.
func (q *query) areOthers(labels []catalogue.Label) bool {
	return len(labels) > 0 && !slices.ContainsFunc(labels, func(label catalogue.Label) bool {
		how := q.name.relationTo(label.Model)
		return how != sibling && how != other
	})
}

// byModel returns the labels of the model that the listing names, or else those
// whose model is a form of it.
func (q *query) byModel(labels []catalogue.Label) ([]catalogue.Label, relation) {
	for _, how := range []relation{same, form} {
		if found := q.related(labels, how); len(found) > 0 {
			return found, how
		}
	}
	return nil, other
}

func (q *query) related(labels []catalogue.Label, how relation) []catalogue.Label {
	return filtered(labels, func(label catalogue.Label) bool { return q.name.relationTo(label.Model) == how })
}

// filtered returns the labels for which a condition holds.
func filtered(labels []catalogue.Label, holds func(catalogue.Label) bool) (kept []catalogue.Label) {
	for _, label := range labels {
		if holds(label) {
			kept = append(kept, label)
		}
	}
	return kept
}

// chooseByCodeAlone decides when the authority lists the code, but not under
// the model that the listing names. Without a model the code decides. A name that the
// authority does not know is substituted (the match is then low) when the make has one
// entry of the code and the bodies agree; so is a longer or shorter name beside a frame
// number. Else a name that the authority lists as another car is a contradiction, also a
// longer or shorter one: neither badge twins nor a model and its sub-model may be exchanged.
func (q *query) chooseByCodeAlone(code chassis.Code, exact []catalogue.Label) (Choice, error) {
	how := q.name.relationTo(exact[0].Model)
	isSubstitute := how == unknown || code.Frame && how == sibling
	if how == notGiven || len(exact) == 1 && isSubstitute && !q.otherBody(exact[0]) {
		return q.acceptOne(code, exact, how)
	}
	with := q.values("code", code.Code, "models", models(exact), "model", clip(q.car.Model))
	return Choice{}, q.refuse("ambiguous_match.other_model", with, code, exact)
}

// otherBody reports whether the listing's body is of another class than the
// label's.
func (q *query) otherBody(label catalogue.Label) bool {
	listed, body := bodyClass(q.car.BodyType), bodyClass(label.Body)
	return listed != "" && body != "" && listed != body
}

// acceptOne accepts one label. Of several it accepts one only if it alone says
// HYBRID and the car is known to be one, or if it alone has the car's size,
// fuel and year.
func (q *query) acceptOne(code chassis.Code, labels []catalogue.Label, how relation) (Choice, error) {
	if len(labels) > 1 && q.fuelClass(code) == facts.Hybrid {
		labels = onlyOne(labels, catalogue.Label.Hybrid)
	}
	if len(labels) > 1 {
		labels = onlyOne(labels, func(label catalogue.Label) bool { return q.fits(code, q.index.of(label)) })
	}
	if len(labels) > 1 {
		return Choice{}, q.refuse("ambiguous_match.several", values{"code": code.Code}, code, labels)
	}
	label := labels[0]
	if doubt := q.driveConflict(code, q.index.of(label)); doubt != nil {
		return Choice{}, doubt
	}
	if doubt := q.contradiction(code, q.index.of(label)); doubt != nil {
		return Choice{}, doubt
	}
	if doubt := q.isOver(code, q.index.of(label)); doubt != nil {
		return Choice{}, doubt
	}
	listed := labelCode(label, code.Code)
	choice := Choice{
		Make: label.Make, Label: label.Text, Code: listed, MatchType: vehicle.ExactCode, MatchedBy: vehicle.ByCode,
		EngineCC: q.index.of(label).CC, Adjustments: q.makeAdjustment(label),
		Electrified: q.electrifiedCounterparts(code, q.index.of(label)),
	}.because(q.reason(code, listed, label, how))
	choice.Adjustments = append(choice.Adjustments, q.modelAdjustment(label, how, ".code")...)
	choice.Adjustments = append(choice.Adjustments, q.codeAdjustment(code, listed)...)
	return choice, nil
}

// onlyOne returns the one label for which a condition holds, or all labels when
// it holds for several or none of them.
func onlyOne(labels []catalogue.Label, holds func(catalogue.Label) bool) []catalogue.Label {
	if kept := filtered(labels, holds); len(kept) == 1 {
		return kept
	}
	return labels
}

// chooseAmong decides for a listing with several codes. They must all lead to one
// label, or engine size, fuel and year must rule out every code but one. A petrol
// fuel cell does not rule out a hybrid, because exporters list hybrids as petrol.
func (q *query) chooseAmong(codes []chassis.Code) (Choice, error) {
	var possible []Choice
	var found []catalogue.Label
	agree := true
	for i, code := range codes {
		labels := slices.Concat(q.entries.ByCode(code.Code), q.withOtherLetter(code.Code))
		found = append(found, labels...)
		if len(labels) > 0 && !slices.ContainsFunc(labels, func(l catalogue.Label) bool { return q.canBe(code, q.index.of(l)) }) {
			agree = false // none of the code's entries can be the car
			continue
		}
		choice, err := q.choose(code)
		if err != nil {
			choice = Choice{}
		}
		agree = agree && err == nil && (i == 0 || choice.Label == possible[0].Label)
		possible = append(possible, choice)
	}
	if agree {
		return possible[0], nil
	}
	if len(possible) == 1 && possible[0].Label != "" {
		return q.decided(possible[0], codes), nil
	}
	return Choice{}, q.refuse("ambiguous_match.codes", q.values("codes", joinCodes(codes)), codes[0], found)
}

// canBe reports whether a label can be the car by what is known on both sides of
// engine size, year and drive.
func (q *query) canBe(code chassis.Code, label *indexed) bool {
	says := signalOf(q.car, code)
	switch {
	case q.car.EngineCC > 0 && label.CC > 0 && abs(q.car.EngineCC-label.CC) > ccAgrees,
		q.car.Year != 0 && label.YearsOff(q.car.Year) > 1,
		fuelsClash(q.fuelClass(code), label.fuel, false):
		return false
	}
	return says.class == "" || label.fuel == "" || says.isElectrified() == isElectrified(label.fuel)
}

// decided is the choice of one of several listed codes, with that as an
// adjustment.
func (q *query) decided(choice Choice, codes []chassis.Code) Choice {
	choice = choice.because(joined(choice.Why, message.New("match/several_codes", nil)))
	for i, a := range choice.Adjustments {
		if a.Field == "modelCode" {
			choice.Adjustments = slices.Delete(choice.Adjustments, i, i+1)
			break
		}
	}
	choice.Adjustments = append(choice.Adjustments,
		vehicle.Adjusted("modelCode", joinCodes(codes), choice.Code, "several_codes", q.values()))
	return choice
}
