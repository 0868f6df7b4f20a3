package facts

import (
	_ "embed" // fuels.csv
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
)

// Fuel is what drives a car, whatever the words.
type Fuel string

// The fuels.
const (
	Petrol       Fuel = "petrol"
	Diesel       Fuel = "diesel"
	Hybrid       Fuel = "petrol hybrid"
	DieselHybrid Fuel = "diesel hybrid"
	Electric     Fuel = "electric"
	FuelCell     Fuel = "hydrogen"
	Gas          Fuel = "gas"
)

//go:embed fuels.csv
var fuelTable string

// fuelWord is a rule of fuels.csv.
type fuelWord struct {
	class Fuel
	whole bool
	texts []string
}

// fuelWords are tried in order.
var fuelWords = func() (words []fuelWord) {
	for _, row := range datatable.Rows(fuelTable) {
		words = append(words, fuelWord{Fuel(row[0]), row[1] == "whole", strings.Fields(row[2])})
	}
	return words
}()

// plainFuels are the words that nearly every listing and label has; they need
// no rules.
var plainFuels = map[string]Fuel{
	"": "", "PETROL": Petrol, "GASOLINE": Petrol, "DIESEL": Diesel, "HYBRID": Hybrid, "ELECTRIC": Electric,
	"PETROL & ELECTRIC": Hybrid,
}

// FuelOf folds a fuel word; "" for one that says nothing.
func FuelOf(word string) Fuel {
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

// FuelOfPrefix returns what an emission prefix says; "" for one that says nothing.
func FuelOfPrefix(code chassis.Code) Fuel { return classOfPower[code.Power()] }

var classOfPower = map[chassis.Power]Fuel{
	chassis.Petrol: Petrol, chassis.Diesel: Diesel, chassis.Hybrid: Hybrid, chassis.DieselHybrid: DieselHybrid,
	chassis.Electric: Electric, chassis.FuelCell: FuelCell,
}
