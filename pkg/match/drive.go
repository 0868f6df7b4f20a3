package match

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// A petrol car and its hybrid often bear the same name, and their codes differ
// by a letter or a digit: NOTE E12 and HE12. Exporters shorten the code or type
// the more common one, so a petrol code does not decide about a car that the
// listing calls a hybrid, and the reverse.

// signal is what a listing says about an electric drive, apart from the code.
type signal struct {
	class  facts.Fuel // hybrid, electric, or petrol from a prefix; empty without a signal
	key    string     // of the text for what says so
	values values
}

// text says what the signal is.
func (s signal) text() message.Text { return message.Say(s.key, s.values) }

func (s signal) isElectrified() bool { return isElectrified(s.class) }

// isElectrified reports whether a fuel class counts as hybrid or electric. A
// diesel hybrid does not: as far as known, the authority lists it as diesel.
func isElectrified(class facts.Fuel) bool { return class == facts.Hybrid || class == facts.Electric }

// signalOf returns the strongest signal of a car: the emission prefix, then a
// word in model or grade, then the fuel cell. A petrol prefix is a signal only
// without any word to the contrary, because some hybrids carry one.
func signalOf(car vehicle.Car, code chassis.Code) signal {
	prefix, cell := facts.FuelOfPrefix(code), facts.FuelOf(car.Fuel)
	switch {
	case isElectrified(prefix):
		return signal{prefix, "signal/prefix", values{"prefix": code.Prefix, "fuel": string(prefix)}}
	case prefix == facts.Diesel || prefix == facts.DieselHybrid || cell == facts.Diesel || cell == facts.DieselHybrid:
		return signal{}
	}
	for _, text := range []string{car.Model, car.Version} {
		if class, word := electrifiedWord(naming.Words(text)); class != "" {
			return signal{class, "signal/says", sourced(car, "word", word)}
		}
	}
	if isElectrified(cell) {
		says := sourced(car, "word", strings.ToUpper(strings.TrimSpace(car.Fuel)))
		says["source"] = car.SourceOf("fuel").Key()
		return signal{cell, "signal/says", says}
	}
	if prefix == facts.Petrol {
		return signal{facts.Petrol, "signal/prefix", values{"prefix": code.Prefix, "fuel": string(facts.Petrol)}}
	}
	return signal{}
}

// electrifiedWord finds the first word or pair of words that means an electric
// drive and does not follow a negation. The words are those of naming.Words.
func electrifiedWord(words []string) (facts.Fuel, string) {
	for i, word := range words {
		if i > 0 && (words[i-1] == "NO" || words[i-1] == "NON" || words[i-1] == "NOT") {
			continue
		}
		if i+1 < len(words) {
			if class, ok := electrifiedWords[word+" "+words[i+1]]; ok {
				return class, word + "-" + words[i+1]
			}
		}
		if class, ok := electrifiedWords[word]; ok {
			return class, word
		}
		for _, part := range electrifiedTexts {
			if strings.Contains(word, part.text) {
				return part.class, word
			}
		}
	}
	return "", ""
}

// electrifiedWords are the words of names, grades and fuels that mean an
// electric drive (makers' and exporters' pages).
var electrifiedWords = map[string]facts.Fuel{
	"HYBRID": facts.Hybrid, "HV": facts.Hybrid, "HEV": facts.Hybrid, "PHEV": facts.Hybrid, "PHV": facts.Hybrid,
	"MHEV": facts.Hybrid, "PLUGIN": facts.Hybrid, "EPOWER": facts.Hybrid, "EHEV": facts.Hybrid, "IMMD": facts.Hybrid,
	"IDCD": facts.Hybrid, "SHYBRID": facts.Hybrid, "EBOXER": facts.Hybrid, "E POWER": facts.Hybrid, "E HEV": facts.Hybrid,
	"I MMD": facts.Hybrid, "I DCD": facts.Hybrid, "E BOXER": facts.Hybrid, "PLUG IN": facts.Hybrid,
	"EV": facts.Electric, "BEV": facts.Electric,
}

// electrifiedTexts are parts of Japanese words, which are not separated.
var electrifiedTexts = []struct {
	text  string
	class facts.Fuel
}{
	{"ハイブリッ", facts.Hybrid}, {"ハイブリット", facts.Hybrid}, {"プラグイン", facts.Hybrid}, {"電気", facts.Electric},
}

// baseModel returns a model's name without words for its drive: NOTE for NOTE
// E-POWER.
func baseModel(words []string) string {
	var base []string
	for i := 0; i < len(words); i++ {
		if i+1 < len(words) && electrifiedWords[words[i]+" "+words[i+1]] != "" {
			i++
			continue
		}
		if electrifiedWords[words[i]] == "" || len(words) == 1 {
			base = append(base, words[i])
		}
	}
	return strings.Join(base, "")
}

// driveConflict refuses a label whose drive contradicts the signal of the
// listing: a petrol entry of a car called a hybrid, or a hybrid entry of a car
// with a petrol prefix. The entries of the other drive come first among the
// candidates. Without such entries only a prefix refuses.
func (q *query) driveConflict(code chassis.Code, label *indexed) error {
	says := signalOf(q.car, code)
	if says.class == "" || label.fuel == "" || says.isElectrified() == isElectrified(label.fuel) ||
		says.isElectrified() && label.fuel == facts.Diesel && says.class != facts.Electric {
		return nil
	}
	others := q.counterparts(code.Code, label, !isElectrified(label.fuel))
	variant, with := ".drive", values{"listed": code.Code, "fuel": string(label.fuel)}
	if code.Code == "" {
		variant, with["listed"] = ".entry_drive", label.Text
	}
	switch {
	case len(others) > 0:
		with["otherFuel"], with["other"] = string(q.index.of(others[0]).fuel), others[0].Text
		key := AmbiguousMatch + variant
		return q.refuseInOrder(key, with, code, append(others, label.Label)).whole(key, "signal", with, says.text())
	case facts.FuelOfPrefix(code) != "":
		key := fuelConflict + variant
		return q.refuseInOrder(key, with, code, []catalogue.Label{label.Label}).whole(key, "signal", with, says.text())
	}
	return nil
}

// isWrongDrive reports, for a car without a code, whether a label's drive
// contradicts the listing while the model has an entry of the right drive. A
// fuel cell with the word petrol counts here, because no code overrides it.
func (q *query) isWrongDrive(code chassis.Code, label *indexed) bool {
	says := signalOf(q.car, code)
	if says.class == "" && facts.FuelOf(q.car.Fuel) == facts.Petrol {
		says.class = facts.Petrol
	}
	if says.class == "" || label.fuel == "" || says.isElectrified() == isElectrified(label.fuel) {
		return false
	}
	return len(q.ofDrive(label, says.isElectrified())) > 0
}

// counterparts returns the entries of ofDrive in the order of driveRank.
func (q *query) counterparts(listed string, label *indexed, electrified bool) []catalogue.Label {
	found := q.ofDrive(label, electrified)
	listed = cmp.Or(listed, strings.Join(label.Codes, ""))
	slices.SortStableFunc(found, func(a, b *indexed) int { return q.driveRank(listed, a) - q.driveRank(listed, b) })
	labels := make([]catalogue.Label, 0, len(found))
	for _, x := range found {
		labels = append(labels, x.Label)
	}
	return labels
}

// ofDrive returns the entries of a label's model with a drive, electrified or plain, that were
// built when the car was.
func (q *query) ofDrive(label *indexed, electrified bool) (found []*indexed) {
	for _, i := range q.index.byBase[q.index.nameplates[label.nameplate].base] {
		other := &q.index.labels[i]
		if other.fuel != "" && isElectrified(other.fuel) == electrified && q.sameTime(other, label) {
			found = append(found, other)
		}
	}
	return found
}

// sameTime reports whether a label was built in the car's year, within one; for a
// car without a year, whether both labels were built at one time.
func (q *query) sameTime(other, label *indexed) bool {
	if q.car.Year != 0 {
		return other.YearsOff(q.car.Year) <= 1
	}
	before := other.To != 0 && label.From != 0 && other.To+1 < label.From
	after := label.To != 0 && other.From != 0 && label.To+1 < other.From
	return !before && !after
}

// driveRank orders counterparts, the lowest first: the engine size agrees, the
// year is one of production, the code contains the listed one, it differs least.
func (q *query) driveRank(listed string, label *indexed) int {
	stem, _ := chassis.Stem(listed)
	nearest, contains := naming.MaxDistance, false
	for _, code := range label.Codes {
		nearest = min(nearest, naming.Distance(listed, code))
		contains = contains || strings.Contains(code, stem)
	}
	size := oneIf(q.car.EngineCC > 0 && label.CC > 0 && abs(q.car.EngineCC-label.CC) > ccAgrees)
	year := oneIf(q.car.Year != 0 && label.YearsOff(q.car.Year) > 0)
	return size*400 + year*200 + oneIf(!contains)*100 + nearest
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// electrifiedCounterparts returns the hybrid and electric labels of the car's model when the
// listing has an electric signal. Resolve then does not choose petrol from the authority's list
// of fuels.
func (q *query) electrifiedCounterparts(code chassis.Code, label *indexed) (texts []string) {
	if !signalOf(q.car, code).isElectrified() {
		return nil
	}
	for _, other := range q.counterparts(code.Code, label, true) {
		if other.Text != label.Text && len(texts) < MaxCandidates {
			texts = append(texts, other.Text)
		}
	}
	return texts
}

func (q *query) fuelClass(code chassis.Code) facts.Fuel {
	class, _ := electrifiedWord(q.name.words)
	return carClass(q.car.Fuel, code, class)
}

// carClass is the car's fuel class. The emission prefix decides, the fuel word
// only hints: sellers list hybrids as petrol. A petrol prefix beside the word
// hybrid decides nothing, because some hybrids carry one. The drive that the car's name
// gives (HYBRID, EV) counts where the listing's fuel says petrol or nothing.
func carClass(word string, code chassis.Code, named facts.Fuel) facts.Fuel {
	class, prefix := facts.FuelOf(word), facts.FuelOfPrefix(code)
	if prefix != "" && (prefix != facts.Petrol || class != facts.Hybrid) {
		class = prefix
	}
	if class == "" || named == facts.Hybrid && class == facts.Petrol && prefix == "" {
		return cmp.Or(named, class)
	}
	return class
}

// namedClass returns the electric drive that a car's model or grade names.
func namedClass(car vehicle.Car) facts.Fuel {
	class, _ := electrifiedWord(naming.Latin(naming.Words(car.Model)))
	if class == "" {
		class, _ = electrifiedWord(naming.Latin(naming.Words(car.Version)))
	}
	return class
}

// withoutFuelConflict removes the labels that name a hybrid when the car is
// certainly not one: its prefix says petrol, or it is a diesel or electric. The
// word petrol alone is not a conflict. When no label is left it returns a refusal.
func (q *query) withoutFuelConflict(code chassis.Code, exact, relaxed []catalogue.Label) (_, _ []catalogue.Label, _ error) {
	if !slices.ContainsFunc(exact, catalogue.Label.Hybrid) && !slices.ContainsFunc(relaxed, catalogue.Label.Hybrid) {
		return exact, relaxed, nil
	}
	class := q.fuelClass(code)
	mayBe := class == "" || class == facts.Hybrid || class == facts.DieselHybrid
	if mayBe || class == facts.Petrol && facts.FuelOfPrefix(code) != facts.Petrol {
		return exact, relaxed, nil
	}
	kept, keptRelaxed := notHybrid(exact), notHybrid(relaxed)
	if len(kept)+len(keptRelaxed) == 0 {
		with := values{"code": code.Code, "fuel": string(class)}
		return nil, nil, q.refuse("fuel_conflict.hybrid", with, code, slices.Concat(exact, relaxed))
	}
	return kept, keptRelaxed, nil
}

func notHybrid(labels []catalogue.Label) []catalogue.Label {
	return filtered(labels, func(label catalogue.Label) bool { return !label.Hybrid() })
}
