package match

import (
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// japan is the expected country of origin.
const japan = "JAPAN"

// maxYearsApart is how far a year of the authority's list may be from the car's own:
// values of cars further apart have little to do with each other.
const maxYearsApart = 3

// pickYear returns the car's year of the authority's list, or else the nearest, or the one
// to which the caller has consented; false when the nearest is too far away. Of two equally
// near years it returns the older one. Only the value is that of the other year: the car's
// age stays its own.
func pickYear(listed, consented int, years []int) (year int, adjusted []vehicle.Adjustment, ok bool) {
	years = slices.Sorted(slices.Values(years))
	nearest := slices.MinFunc(years, func(a, b int) int { return abs(a-listed) - abs(b-listed) }) // the first, so the older
	if slices.Contains(years, consented) {
		nearest = consented
	} else if abs(nearest-listed) > maxYearsApart {
		return nearest, nil, false
	}
	if nearest == listed {
		return nearest, nil, true
	}
	named := values{"from": strconv.Itoa(listed), "to": strconv.Itoa(nearest)}
	return nearest, []vehicle.Adjustment{vehicle.Adjusted("yom", listed, nearest, "nearest_year", named)}, true
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
		return "", nil, refusal("ambiguous_match.countries", values{"countries": strings.Join(countries, ", ")})
	}
	only := vehicle.Adjusted("country", japan, countries[0], "country", values{"to": countries[0]})
	return countries[0], []vehicle.Adjustment{only}, nil
}

// wantedClass returns the fuel class to look for in the authority's list: the
// prefix decides, then a label or a name with HYBRID, then the listing's fuel.
func wantedClass(car vehicle.Car, code chassis.Code, label catalogue.Label) facts.Fuel {
	class := carClass(car.Fuel, code, namedClass(car))
	if label.Hybrid() && (class == facts.Petrol || class == "") {
		return facts.Hybrid
	}
	return class
}

// pickFuel returns the authority's name of the car's fuel. It accepts hybrid for
// a listed petrol and the reverse when neither code nor label decides and the
// authority lists only one of them. It never replaces diesel by petrol or an
// electric car by a hybrid.
func pickFuel(car vehicle.Car, code chassis.Code, label catalogue.Label, fuels []string) (string, []vehicle.Adjustment, error) {
	word, class, sure := car.Fuel, wantedClass(car, code, label), facts.FuelOfPrefix(code)
	if class == "" {
		if len(fuels) == 1 {
			reason := "only_fuel"
			if word != "" {
				reason = "fuel_unknown"
			}
			return fuels[0], fuelAdjustment(word, fuels[0], reason, sourced(car)), nil
		}
		return "", nil, refusal("listing_incomplete.fuel", sourced(car, "fuels", strings.Join(fuels, ", ")))
	}
	accepted := []facts.Fuel{class}
	switch {
	case class == facts.DieselHybrid:
		accepted = append(accepted, facts.Diesel)
	case class == facts.Hybrid && sure != facts.Hybrid && !label.Hybrid():
		accepted = append(accepted, facts.Petrol)
	case class == facts.Petrol && sure != facts.Petrol:
		accepted = append(accepted, facts.Hybrid)
	}
	for _, class := range accepted {
		if fuel, ok := oneOfClass(word, class, fuels); ok {
			return fuel, fuelAdjustment(word, fuel, fuelReason(car, fuel, code, label),
				sourced(car, "to", fuel, "prefix", code.Prefix, "fuel", string(facts.FuelOf(fuel)))), nil
		}
	}
	return "", nil, refusal(fuelConflict, values{
		"make": label.Make.Name, "entry": label.Text, "fuels": strings.Join(fuels, ", "), "fuel": string(class),
	})
}

// oneOfClass finds the fuel of a class: the listing's word if it is among them,
// else the first by name.
func oneOfClass(word string, class facts.Fuel, fuels []string) (string, bool) {
	var fitting []string
	for _, fuel := range slices.Sorted(slices.Values(fuels)) {
		if facts.FuelOf(fuel) == class {
			fitting = append(fitting, fuel)
		}
		if facts.FuelOf(fuel) == class && chassis.Normalise(fuel) == chassis.Normalise(word) {
			return fuel, true
		}
	}
	if len(fitting) == 0 {
		return "", false
	}
	return fitting[0], true
}

// fuelReason returns the key of the reason why the authority's fuel is another word.
func fuelReason(car vehicle.Car, fuel string, code chassis.Code, label catalogue.Label) string {
	listed, taken := facts.FuelOf(car.Fuel), facts.FuelOf(fuel)
	switch {
	case listed == taken:
		return "fuel_name"
	case facts.FuelOfPrefix(code) == taken:
		return "fuel_prefix"
	case taken == facts.Hybrid && label.Hybrid():
		return "entry_hybrid"
	case taken == facts.Hybrid && namedClass(car) == facts.Hybrid:
		return "name_hybrid"
	default:
		return "fuel_only"
	}
}

func fuelAdjustment(word, fuel, reason string, with values) []vehicle.Adjustment {
	if chassis.Normalise(word) == chassis.Normalise(fuel) {
		return nil
	}
	return []vehicle.Adjustment{vehicle.Adjusted("fuelType", word, fuel, reason, with)}
}
