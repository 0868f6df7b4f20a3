package match

import (
	"cmp"
	_ "embed" // fuels.csv
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra/catalogue"
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

//go:embed fuels.csv
var fuelTable string

// fuelWord is a rule of fuels.csv.
type fuelWord struct {
	class fuelClass
	whole bool
	texts []string
}

// fuelWords are tried in order.
var fuelWords = func() (words []fuelWord) {
	for _, row := range datatable.Rows(fuelTable) {
		words = append(words, fuelWord{fuelClass(row[0]), row[1] == "whole", strings.Fields(row[2])})
	}
	return words
}()

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

// FuelClass returns the class of a fuel word: petrol, petrol hybrid; "" for one that says nothing.
func FuelClass(word string) string { return string(classOfWord(word)) }

// carClass is the car's fuel class. The emission prefix decides, the fuel word
// only hints: sellers list hybrids as petrol. A petrol prefix beside the word
// hybrid decides nothing, because some hybrids carry one. The drive that the car's name
// gives (HYBRID, EV) counts where the listing's fuel says petrol or nothing.
func carClass(word string, code chassis.Code, named fuelClass) fuelClass {
	class, prefix := classOfWord(word), classOfPrefix(code)
	if prefix != "" && (prefix != petrol || class != hybrid) {
		class = prefix
	}
	if class == "" || named == hybrid && class == petrol && prefix == "" {
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

func classOfPrefix(code chassis.Code) fuelClass { return classOfPower[code.Power()] }

var classOfPower = map[chassis.Power]fuelClass{
	chassis.Petrol: petrol, chassis.Diesel: diesel, chassis.Hybrid: hybrid, chassis.DieselHybrid: dieselHybrid,
	chassis.Electric: electric, chassis.FuelCell: fuelCell,
}

// withoutFuelConflict removes the labels that name a hybrid when the car is
// certainly not one: its prefix says petrol, or it is a diesel or electric. The
// word petrol alone is not a conflict. When no label is left it returns a refusal.
func (q *query) withoutFuelConflict(code chassis.Code, exact, relaxed []catalogue.Label) (_, _ []catalogue.Label, conflict error) {
	if !slices.ContainsFunc(exact, catalogue.Label.Hybrid) && !slices.ContainsFunc(relaxed, catalogue.Label.Hybrid) {
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

func notHybrid(labels []catalogue.Label) []catalogue.Label {
	return slices.DeleteFunc(slices.Clone(labels), catalogue.Label.Hybrid)
}
