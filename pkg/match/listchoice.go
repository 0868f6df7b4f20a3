package match

import (
	"fmt"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// japan is the country of origin expected of every car.
const japan = "JAPAN"

// pickYear takes the listed year, or else the nearest. Of two years equally
// near it takes the older: the excise for age only grows with age, so the
// figure does not understate it.
func pickYear(listed int, years []int) (int, []vehicle.Adjustment) {
	years = slices.Sorted(slices.Values(years))
	nearest := slices.MinFunc(years, func(a, b int) int { return abs(a-listed) - abs(b-listed) }) // the first, so the older
	if nearest == listed {
		return nearest, nil
	}
	return nearest, []vehicle.Adjustment{{Field: "yom", From: listed, To: nearest, Reason: fmt.Sprintf(
		"the authority has no entry for the listed year %d; the nearest year, %d, is used", listed, nearest)}}
}

func abs(n int) int { return max(n, -n) }

// pickCountry takes Japan, or else the only country there is.
func pickCountry(countries []string) (string, []vehicle.Adjustment, error) {
	for _, country := range countries {
		if chassis.Normalise(country) == japan {
			return country, nil, nil
		}
	}
	if len(countries) > 1 {
		return "", nil, refusal(AmbiguousMatch,
			"the authority lists several countries of origin and none is Japan: "+strings.Join(countries, ", "))
	}
	return countries[0], []vehicle.Adjustment{{
		Field: "country", From: japan, To: countries[0],
		Reason: "the authority does not list Japan as the country of origin, only " + countries[0],
	}}, nil
}

// wantedClass is the fuel class to look for in the authority's list: the
// prefix decides, then a label or a name that says HYBRID, then the listing's
// word.
func wantedClass(car vehicle.Car, code chassis.Code, label tra.Label) fuelClass {
	class := carClass(car.Fuel, code, saysHybrid(car))
	if label.Hybrid() && (class == petrol || class == "") {
		return hybrid
	}
	return class
}

// pickFuel takes the authority's word for the car's fuel. A mere word of the
// listing may be petrol for a hybrid or the reverse, when the code and label
// do not say which and the authority lists one of them. Diesel never stands
// for petrol, nor a hybrid for an electric car.
func pickFuel(car vehicle.Car, code chassis.Code, label tra.Label, fuels []string) (string, []vehicle.Adjustment, error) {
	word, class, sure := car.Fuel, wantedClass(car, code, label), classOfPrefix(code)
	if class == "" {
		if len(fuels) == 1 {
			const reason = "the listing gives no fuel that is understood; the authority lists one"
			return fuels[0], fuelAdjustment(word, fuels[0], reason), nil
		}
		return "", nil, refusal(ListingIncomplete,
			"the listing gives no fuel, and the authority lists several: "+strings.Join(fuels, ", "))
	}
	accepted := []fuelClass{class}
	switch {
	case class == dieselHybrid:
		accepted = append(accepted, diesel)
	case class == hybrid && sure != hybrid && !label.Hybrid():
		accepted = append(accepted, petrol)
	case class == petrol && sure != petrol:
		accepted = append(accepted, hybrid)
	}
	for _, class := range accepted {
		if fuel, ok := oneOfClass(word, class, fuels); ok {
			return fuel, fuelAdjustment(word, fuel, fuelReason(word, fuel, code, label, saysHybrid(car))), nil
		}
	}
	return "", nil, refusal(FuelConflict, fmt.Sprintf("the authority lists %s %s only as %s, and the car is %s",
		label.Make.Name, label.Text, strings.Join(fuels, ", "), class))
}

// oneOfClass finds the fuel of a class: the listing's own word if it is
// there, else the first by name.
func oneOfClass(word string, class fuelClass, fuels []string) (string, bool) {
	var fitting []string
	for _, fuel := range slices.Sorted(slices.Values(fuels)) {
		if classOfWord(fuel) == class {
			fitting = append(fitting, fuel)
		}
		if classOfWord(fuel) == class && chassis.Normalise(fuel) == chassis.Normalise(word) {
			return fuel, true
		}
	}
	if len(fitting) == 0 {
		return "", false
	}
	return fitting[0], true
}

func fuelReason(word, fuel string, code chassis.Code, label tra.Label, named bool) string {
	listed, taken := classOfWord(word), classOfWord(fuel)
	switch {
	case listed == taken:
		return "the authority's word for this fuel is " + fuel
	case classOfPrefix(code) == taken:
		return fmt.Sprintf("the emission prefix %s is that of a %s car and decides over the listing's word", code.Prefix, taken)
	case taken == hybrid && label.Hybrid():
		return "the authority's entry for this chassis code is a hybrid"
	case taken == hybrid && named:
		return "the car's name says that it is a hybrid"
	default:
		return "the authority has this entry only as " + fuel
	}
}

func fuelAdjustment(word, fuel, reason string) []vehicle.Adjustment {
	if chassis.Normalise(word) == chassis.Normalise(fuel) {
		return nil
	}
	return []vehicle.Adjustment{{Field: "fuelType", From: word, To: fuel, Reason: reason}}
}
