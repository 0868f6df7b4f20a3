package match

import (
	"cmp"
	"slices"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

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

func (q *query) fuelClass(code chassis.Code) facts.Fuel {
	class, _ := electrifiedWord(q.name.words)
	return carClass(q.car.Fuel, code, class)
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
