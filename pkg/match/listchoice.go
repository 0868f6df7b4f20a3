package match

import (
	"fmt"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// japan is the expected country of origin.
const japan = "JAPAN"

// pickYear returns the listed year, or else the nearest. Of two equally near
// years it returns the older one: the excise duty for age only grows with age,
// so the result does not understate it.
func pickYear(listed int, years []int) (int, []vehicle.Adjustment) {
	years = slices.Sorted(slices.Values(years))
	nearest := slices.MinFunc(years, func(a, b int) int { return abs(a-listed) - abs(b-listed) }) // the first, so the older
	if nearest == listed {
		return nearest, nil
	}
	return nearest, []vehicle.Adjustment{{Field: "yom", From: listed, To: nearest, Reason: fmt.Sprintf(
		"TRA has no entry for the listed year %d; the nearest year, %d, is used", listed, nearest)}}
}

func abs(n int) int { return max(n, -n) }

// pickCountry returns Japan, or else the only country.
func pickCountry(countries []string) (string, []vehicle.Adjustment, error) {
	for _, country := range countries {
		if chassis.Normalise(country) == japan {
			return country, nil, nil
		}
	}
	if len(countries) > 1 {
		return "", nil, refusal(AmbiguousMatch,
			"TRA lists several countries of origin, but not Japan: "+strings.Join(countries, ", "))
	}
	return countries[0], []vehicle.Adjustment{{
		Field: "country", From: japan, To: countries[0],
		Reason: "TRA does not list Japan as the country of origin, only " + countries[0],
	}}, nil
}

// wantedClass returns the fuel class to look for in the authority's list: the
// prefix decides, then a label or a name with HYBRID, then the listing's fuel.
func wantedClass(car vehicle.Car, code chassis.Code, label tra.Label) fuelClass {
	class := carClass(car.Fuel, code, namedClass(car))
	if label.Hybrid() && (class == petrol || class == "") {
		return hybrid
	}
	return class
}

// pickFuel returns the authority's name of the car's fuel. It accepts hybrid for
// a listed petrol and the reverse when neither code nor label decides and the
// authority lists only one of them. It never replaces diesel by petrol or an
// electric car by a hybrid.
func pickFuel(car vehicle.Car, code chassis.Code, label tra.Label, fuels []string) (string, []vehicle.Adjustment, error) {
	word, class, sure := car.Fuel, wantedClass(car, code, label), classOfPrefix(code)
	if class == "" {
		if len(fuels) == 1 {
			reason := "the " + car.Source.Noun().EN + " gives no fuel; TRA lists only one"
			if word != "" {
				reason = "the " + car.Source.Noun().EN + "'s fuel was not recognised; TRA lists only one"
			}
			return fuels[0], fuelAdjustment(word, fuels[0], reason), nil
		}
		return "", nil, refusal(ListingIncomplete,
			"the "+car.Source.Noun().EN+" gives no fuel, and TRA lists several: "+strings.Join(fuels, ", "))
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
			return fuel, fuelAdjustment(word, fuel, fuelReason(car, fuel, code, label)), nil
		}
	}
	return "", nil, refusal(FuelConflict, fmt.Sprintf("TRA lists %s %s only as %s, and the car is %s",
		label.Make.Name, label.Text, strings.Join(fuels, ", "), class))
}

// oneOfClass finds the fuel of a class: the listing's word if it is among them,
// else the first by name.
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

func fuelReason(car vehicle.Car, fuel string, code chassis.Code, label tra.Label) string {
	listed, taken := classOfWord(car.Fuel), classOfWord(fuel)
	switch {
	case listed == taken:
		return "TRA calls this fuel " + fuel
	case classOfPrefix(code) == taken:
		return fmt.Sprintf("the emission prefix %s means %s, which overrides the %s", code.Prefix, taken, car.Source.Noun().EN)
	case taken == hybrid && label.Hybrid():
		return "the TRA entry for this chassis code is a hybrid"
	case taken == hybrid && namedClass(car) == hybrid:
		return "the car's name says that it is a hybrid"
	default:
		return "TRA has this entry only as " + fuel
	}
}

func fuelAdjustment(word, fuel, reason string) []vehicle.Adjustment {
	if chassis.Normalise(word) == chassis.Normalise(fuel) {
		return nil
	}
	return []vehicle.Adjustment{{Field: "fuelType", From: word, To: fuel, Reason: reason}}
}
