package match

import (
	"fmt"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
)

// farYears is how many years outside a label's production a car is surely
// another one.
const farYears = 3

// veto says why a label cannot be the car, or "". It holds against whatever a
// code, a name or a Chooser says for the label; what is not known on either
// side says nothing.
func (q *query) veto(code chassis.Code, label tra.Label) string {
	fact := q.index.fact(label)
	switch {
	case ccFarOff(q.car.EngineCC, fact.CC):
		return fmt.Sprintf("its engine is of %d cc, the listing's of %d cc", fact.CC, q.car.EngineCC)
	case fuelsClash(q.fuelClass(code), labelFuel(label, fact), classOfPrefix(code) != ""):
		return fmt.Sprintf("it runs on %s, the car on %s", labelFuel(label, fact), q.fuelClass(code))
	case q.car.Year != 0 && fact.yearsOff(q.car.Year) > farYears:
		return fmt.Sprintf("it was not built within %d years of %d", farYears, q.car.Year)
	case bodiesFar(q.car.BodyType, label.Body):
		return fmt.Sprintf("it is a %s, the listing's car a %s", bodyClass(label.Body), bodyClass(q.car.BodyType))
	}
	return ""
}

// contradiction refuses a label that has the listing's code, but not its
// engine, fuel or body. A year that is far off is left to the authority's list
// of years.
func (q *query) contradiction(code chassis.Code, label tra.Label) error {
	fact := q.index.fact(label)
	text := "the listing contradicts itself: chassis code " + code.Code + " is a " + label.Model
	switch {
	case fuelsClash(q.fuelClass(code), labelFuel(label, fact), false):
		return q.refuse(FuelConflict, fmt.Sprintf("%s on %s, and the car runs on %s", text, labelFuel(label, fact), q.fuelClass(code)),
			code, []tra.Label{label})
	case ccFarOff(q.car.EngineCC, fact.CC):
		return q.refuse(AmbiguousMatch, fmt.Sprintf("%s of %d cc, and the listing says %d cc", text, fact.CC, q.car.EngineCC),
			code, []tra.Label{label})
	case bodiesFar(q.car.BodyType, label.Body):
		return q.refuse(AmbiguousMatch, fmt.Sprintf("%s as a %s, and the listing says %s", text, bodyClass(label.Body), bodyClass(q.car.BodyType)),
			code, []tra.Label{label})
	}
	return nil
}

// fits says whether a car's known size, fuel class and year are those of a
// label, as far as they are known on both sides.
func (q *query) fits(code chassis.Code, fact Fact) bool {
	class := q.fuelClass(code)
	switch {
	case q.car.EngineCC > 0 && fact.CC > 0 && abs(q.car.EngineCC-fact.CC) > ccAgrees:
		return false
	case class != "" && fact.Fuel != "" && authorityClass(class) != authorityClass(fact.Fuel):
		return false
	}
	return q.car.Year == 0 || fact.yearsOff(q.car.Year) <= 1
}

// agrees says whether all three are known on both sides and fit.
func (q *query) agrees(code chassis.Code, fact Fact) bool {
	sized := q.car.EngineCC > 0 && fact.CC > 0 || fact.Fuel == electric
	known := sized && q.fuelClass(code) != "" && fact.Fuel != "" && q.car.Year != 0 && fact.dated()
	return known && q.fits(code, fact)
}

// authorityClass puts a diesel hybrid among the diesels, as the authority does
// as far as is known.
func authorityClass(class fuelClass) fuelClass {
	if class == dieselHybrid {
		return diesel
	}
	return class
}

// labelFuel is the fuel of a label's car: a label that says HYBRID is one.
func labelFuel(label tra.Label, fact Fact) fuelClass {
	if label.Hybrid() && (fact.Fuel == petrol || fact.Fuel == "") {
		return hybrid
	}
	return fact.Fuel
}

// fuelsClash says whether two known fuel classes cannot be one car's. Petrol
// and petrol hybrid clash only when the emission prefix says which the car is:
// sellers mix the words up, and one
// code can stand for both.
func fuelsClash(listed, known fuelClass, sure bool) bool {
	a, b := authorityClass(listed), authorityClass(known)
	if a == "" || b == "" || a == b {
		return false
	}
	mixedUp := (a == petrol || a == hybrid) && (b == petrol || b == hybrid)
	return !mixedUp || sure
}

// freight are the body classes of goods and of many people.
var freight = map[string]bool{"TRUCK": true, "BUS": true, "PICK UP": true}

// private are those that are never mistaken for freight.
var private = map[string]bool{"SEDAN": true, "HATCHBACK": true, "COUPE": true, "CONVERTIBLE": true}

// bodiesFar says whether two body words are of classes that nobody mixes up.
func bodiesFar(a, b string) bool {
	a, b = bodyClass(a), bodyClass(b)
	return freight[a] && private[b] || private[a] && freight[b]
}
