package match

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// fuelClass is what drives a car, whatever the words.
type fuelClass string

const (
	petrol       fuelClass = "petrol"
	diesel       fuelClass = "diesel"
	hybrid       fuelClass = "petrol hybrid"
	dieselHybrid fuelClass = "diesel hybrid"
	electric     fuelClass = "electric"
	fuelCell     fuelClass = "hydrogen"
	gas          fuelClass = "gas"
)

// fuelWords are tried in order on the word's NameKey: a plug-in before a
// hybrid before petrol and diesel. A rule fits when the word contains all its
// texts, or is one of them when whole is set. Source: exporters' pages and
// Kenya's official price list of July 2025, misspellings included.
var fuelWords = []struct {
	class fuelClass
	whole bool
	texts []string
}{
	{dieselHybrid, false, []string{"DIESEL", "HYBRID"}},
	{dieselHybrid, false, []string{"DIESEL", "ELECTRIC"}},
	{hybrid, false, []string{"PLUGIN"}},
	{hybrid, false, []string{"PHEV"}},
	{hybrid, false, []string{"PHV"}},
	{hybrid, false, []string{"HYBRID"}},
	{hybrid, false, []string{"EPOWER"}},
	{hybrid, false, []string{"ハイブリッド"}},
	{hybrid, false, []string{"PETROL", "ELECTRIC"}},
	{hybrid, false, []string{"GASOLINE", "ELECTRIC"}},
	{hybrid, true, []string{"HEV"}},
	{hybrid, true, []string{"HV"}},
	{fuelCell, false, []string{"HYDROGEN"}},
	{fuelCell, false, []string{"FUELCELL"}},
	{fuelCell, true, []string{"FCV"}},
	{gas, false, []string{"LPG"}},
	{gas, false, []string{"CNG"}},
	{gas, false, []string{"LNG"}},
	{diesel, false, []string{"DIESEL"}},
	{diesel, false, []string{"DEISEL"}},
	{diesel, false, []string{"GASOIL"}},
	{diesel, false, []string{"軽油"}},
	{petrol, false, []string{"PETROL"}},
	{petrol, false, []string{"GASOLINE"}},
	{petrol, false, []string{"ガソリン"}},
	{petrol, true, []string{"REGULAR"}},
	{petrol, true, []string{"PREMIUM"}},
	{electric, false, []string{"ELECTRIC"}},
	{electric, false, []string{"ELECCTRIC"}},
	{electric, false, []string{"電気"}},
	{electric, true, []string{"EV"}},
	{electric, true, []string{"BEV"}},
}

// plainFuels are the words that nearly every listing and label has; they need
// no rules.
var plainFuels = map[string]fuelClass{
	"": "", "PETROL": petrol, "GASOLINE": petrol, "DIESEL": diesel, "HYBRID": hybrid, "ELECTRIC": electric,
	"PETROL & ELECTRIC": hybrid,
}

// classOfWord folds a fuel word; "" for one that says nothing.
func classOfWord(word string) fuelClass {
	if class, plain := plainFuels[word]; plain {
		return class
	}
	key := chassis.NameKey(word)
	for _, rule := range fuelWords {
		fits := !rule.whole || key == rule.texts[0]
		for _, text := range rule.texts {
			fits = fits && strings.Contains(key, text)
		}
		if fits {
			return rule.class
		}
	}
	return ""
}

// classOf is the car's fuel class. The emission prefix decides, the fuel word
// only hints: sellers list hybrids as petrol. A petrol prefix beside the word
// hybrid decides nothing, because some hybrids carry one.
func classOf(word string, code chassis.Code) fuelClass {
	listed, prefix := classOfWord(word), classOfPrefix(code)
	if prefix == "" || prefix == petrol && listed == hybrid {
		return listed
	}
	return prefix
}

// carClass returns classOf, or the drive that the car's name gives (HYBRID, EV) where the
// listing's fuel says petrol or nothing.
func carClass(word string, code chassis.Code, named fuelClass) fuelClass {
	class := classOf(word, code)
	if class == "" || named == hybrid && class == petrol && classOfPrefix(code) == "" {
		return cmp.Or(named, class)
	}
	return class
}

func (q *query) fuelClass(code chassis.Code) fuelClass {
	class, _ := electrifiedWord(q.name.words)
	return carClass(q.car.Fuel, code, class)
}

// namedClass returns the electric drive that a car's model or grade names.
func namedClass(car vehicle.Car) fuelClass {
	class, _ := electrifiedWord(naming.Latin(naming.Words(car.Model)))
	if class == "" {
		class, _ = electrifiedWord(naming.Latin(naming.Words(car.Version)))
	}
	return class
}

func classOfPrefix(code chassis.Code) fuelClass {
	switch code.Power() {
	case chassis.Petrol:
		return petrol
	case chassis.Diesel:
		return diesel
	case chassis.Hybrid:
		return hybrid
	case chassis.DieselHybrid:
		return dieselHybrid
	case chassis.Electric:
		return electric
	case chassis.FuelCell:
		return fuelCell
	}
	return ""
}

// withoutFuelConflict removes the labels that name a hybrid when the car is
// certainly not one: its prefix says petrol, or it is a diesel or electric. The
// word petrol alone is not a conflict. When no label is left it returns a refusal.
func (q *query) withoutFuelConflict(code chassis.Code, exact, relaxed []tra.Label) (_, _ []tra.Label, conflict error) {
	if !slices.ContainsFunc(exact, tra.Label.Hybrid) && !slices.ContainsFunc(relaxed, tra.Label.Hybrid) {
		return exact, relaxed, nil
	}
	class := q.fuelClass(code)
	if class == "" || class == hybrid || class == dieselHybrid || class == petrol && classOfPrefix(code) != petrol {
		return exact, relaxed, nil
	}
	kept, keptRelaxed := notHybrid(exact), notHybrid(relaxed)
	if len(kept)+len(keptRelaxed) == 0 {
		with := values{"code": code.Code, "fuel": string(class)}
		return nil, nil, q.refuse("fuel_conflict.hybrid", with, code, slices.Concat(exact, relaxed))
	}
	return kept, keptRelaxed, nil
}

func notHybrid(labels []tra.Label) []tra.Label {
	return slices.DeleteFunc(slices.Clone(labels), tra.Label.Hybrid)
}
