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
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/selection"
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

// Options of a Matcher. The zero value matches without an AI.
type Options struct {
	Facts   facts.Facts       // facts of the catalogue's labels, as far as known
	Chooser selection.Chooser // decides where no code does; nil disables it
}

// Matcher finds cars in a catalogue. It caches the indexes of the last
// catalogue. It is safe for concurrent use.
type Matcher struct {
	options Options
	mu      sync.Mutex
	cat     *catalogue.Catalogue
	cache   *indexCache
}

// New returns a Matcher.
func New(o Options) *Matcher { return &Matcher{options: o} }

// indexes returns the indexes of a catalogue.
func (m *Matcher) indexes(cat *catalogue.Catalogue) *indexCache {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cat != cat {
		m.cat, m.cache = cat, &indexCache{facts: m.options.Facts, made: map[*catalogue.Entries]*index{}}
	}
	return m.cache
}

// Choose finds the authority's label for a car: by make, chassis code and
// model, without any I/O; where the listing has no usable code, by name, size,
// fuel and year, with the Chooser if there is one. Its errors are of type
// *Error (listing_incomplete without a make, no_match, ambiguous_match,
// fuel_conflict) or the context's. A Chooser that fails is done without.
func (m *Matcher) Choose(ctx context.Context, car vehicle.Car, cat *catalogue.Catalogue) (Choice, error) {
	q, err := m.query(car, cat)
	if err != nil {
		return Choice{}, err
	}
	choice, err := m.chooseWithin(ctx, q)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == NoMatch && q.name.isForeign() {
		return Choice{}, q.otherMakes(cat, m.indexes(cat), refused)
	}
	return choice, err
}

// chooseWithin chooses among the labels of the listing's make.
func (m *Matcher) chooseWithin(ctx context.Context, q *query) (Choice, error) {
	codes := listedCodes(q.car, q.entries)
	if len(codes) == 0 {
		return m.chooseByName(ctx, q)
	}
	if frame, ok := q.shortened(codes); ok {
		return q.choose(frame)
	}
	if err := q.checkFrame(codes); err != nil {
		return Choice{}, err
	}
	if len(codes) > 1 {
		return q.chooseAmong(codes)
	}
	if m.options.Chooser != nil && q.isMisreading(codes[0]) {
		return m.chooseMisread(ctx, q, codes[0])
	}
	return q.choose(codes[0])
}

// query prepares the search for a car. It refuses a car of an unknown make.
func (m *Matcher) query(car vehicle.Car, cat *catalogue.Catalogue) (*query, error) {
	indexes := m.indexes(cat)
	entries, ok := cat.Of(car.Make)
	switch {
	case strings.TrimSpace(car.Make) == "":
		return nil, acrossMakes(car, cat, indexes, refusal("listing_incomplete.make", sourced(car)))
	case !ok:
		return nil, acrossMakes(car, cat, indexes, refusal("no_match.make", values{"make": clip(car.Make)}))
	}
	q := newQuery(car, indexes.of(entries))
	if mk, other := q.namesOtherMake(cat); other {
		return nil, acrossMakes(car, cat, indexes, refusal("ambiguous_match.title",
			q.values("make", entries.Make.Name, "title", mk.Name)))
	}
	return q, nil
}

// query is the search for one car within a make.
type query struct {
	car     vehicle.Car
	entries *catalogue.Entries
	index   *index
	name    name
	body    string // class of the listing's body
}

func newQuery(car vehicle.Car, x *index) *query {
	return &query{car: car, entries: x.entries, index: x, name: readName(car, x), body: bodyClass(car.BodyType)}
}

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

// The stable codes of refusals.
const (
	listingIncomplete = "listing_incomplete" // the listing lacks a field that is needed
	NoMatch           = "no_match"           // the authority does not list the car
	AmbiguousMatch    = "ambiguous_match"    // several entries fit, or the listing contradicts itself
	fuelConflict      = "fuel_conflict"      // the entry that fits runs on another fuel
	noCapacityBand    = "no_capacity_band"   // no engine band of the entry holds the car's engine size
	AIUnavailable     = "ai_unavailable"     // the AI that must decide gave no answer; a retry can succeed
	NotListed         = "not_listed"         // the authority returns an empty list for the label
	YearNotListed     = "year_not_listed"    // it lists the label in years too far from the car's own only
)

// Error is a refusal to match. Its notice is for people, its code for programs.
// Candidates are the entries that the car may be; none of them was accepted.
type Error struct {
	message.Notice

	Candidates []vehicle.Candidate `json:"candidates,omitempty"`

	scored []Scored // the same, with their scores
	cause  error    // of AIUnavailable
}

// Unwrap returns the error of the AI with the code AIUnavailable, otherwise nil.
func (e *Error) Unwrap() error { return e.cause }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refusal(key string, with values) *Error { return &Error{Notice: message.New("error/"+key, with)} }

// whole returns a refusal and puts the given text into its text, in place of the named value.
func (e *Error) whole(key, name string, with values, text message.Text) *Error {
	said := message.SayWith("error/"+key, with, map[string]message.Text{name: text})
	e.Text, e.Message = &said, said.EN
	return e
}

// clip returns text of a listing for a message, at most 60 characters of it.
func clip(s string) string { return fmt.Sprintf("%.60s", strings.TrimSpace(s)) }

// reason explains in one sentence why a label was chosen.
func (q *query) reason(code chassis.Code, listed string, label catalogue.Label, how relation) message.Notice {
	key, as := "match/code", ""
	if listed != code.Code {
		as = "as"
	}
	if others := q.entries.ByCode(listed); len(others) > 1 {
		key += ".several" + strings.Repeat("_", len(as)/2) + as
		with := q.values("code", code.Code, "listed", listed, "models", models(others), "model", label.Model)
		return q.ofFrame(code, message.New(key, with))
	}
	if as != "" {
		key += "." + as
	}
	under := values{"code": code.Code, "listed": listed, "under": label.Make.Name + " " + label.Model}
	why := q.ofFrame(code, message.New(key, under))
	switch how {
	case notGiven:
		return joined(why, message.New("match/no_model", q.values()))
	case form, sibling, unknown:
		return joined(why, message.New("match/says_model", q.values("model", clip(q.car.Model))))
	case same, other:
	}
	return why
}

// ofFrame adds to a reason that the code is that of a frame number.
func (q *query) ofFrame(code chassis.Code, why message.Notice) message.Notice {
	if !code.Frame {
		return why
	}
	return joined(why, message.New("match/frame", nil))
}

// values are the values of a text, by name.
type values = message.Values

// values returns values by name, with the source of the car.
func (q *query) values(pairs ...string) values { return sourced(q.car, pairs...) }

func sourced(car vehicle.Car, pairs ...string) values {
	with := values{"source": car.Source.Key()}
	for i := 0; i+1 < len(pairs); i += 2 {
		with[pairs[i]] = pairs[i+1]
	}
	return with
}

// of returns values by name, with the source of a field of the car.
func (q *query) of(field string, pairs ...string) values {
	with := sourced(q.car, pairs...)
	with["source"] = q.car.SourceOf(field).Key()
	return with
}

// makeAdjustment reports a make that TRA spells otherwise. It is never nil.
func (q *query) makeAdjustment(label catalogue.Label) []vehicle.Adjustment {
	if chassis.Normalise(q.car.Make) == chassis.Normalise(label.Make.Name) {
		return []vehicle.Adjustment{}
	}
	made := vehicle.Adjusted("make", q.car.Make, label.Make.Name, "make_name", values{"make": label.Make.Name})
	return []vehicle.Adjustment{made}
}

// modelAdjustment reports a model that differs from the listing's. The field
// model means that another name was substituted, which makes the match low; the
// field modelBody means another form of the same name, which is minor. The variant of
// the reason is that of a match by code, or empty.
func (q *query) modelAdjustment(label catalogue.Label, how relation, variant string) []vehicle.Adjustment {
	field, key, to := "modelBody", "", label.Text
	switch how {
	case notGiven:
		key = "model_not_given" + variant
	case form:
		key = "model_form"
	case sibling:
		field, key, to = "model", "model_sibling"+variant, label.Model
	case unknown:
		field, key, to = "model", "model_unknown"+variant, label.Model
	case same, other:
		return nil
	}
	return []vehicle.Adjustment{vehicle.Adjusted(field, q.car.Model, to, key, q.values("model", label.Model))}
}
