package match

import (
	_ "embed" // bodies.csv
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
)

// maxYearGap is how many years outside a label's production a car is surely
// another one.
const maxYearGap = 3

// veto says why a label cannot be the car, or "". It holds against whatever a
// code, a name or a Chooser says for the label; what is not known on either
// side says nothing.
func (q *query) veto(code chassis.Code, label *indexed) message.Text {
	unfit := func(key string, pairs ...string) message.Text { return message.Say("unfit/"+key, q.values(pairs...)) }
	switch {
	case ccFarOff(q.car.EngineCC, label.CC):
		return unfit("engine", "cc", strconv.Itoa(label.CC), "listed", strconv.Itoa(q.car.EngineCC))
	case fuelsClash(q.fuelClass(code), label.fuel, facts.FuelOfPrefix(code) != ""):
		return unfit("fuel", "fuel", string(label.fuel), "listed", string(q.fuelClass(code)))
	case code.Code == "" && q.isWrongDrive(code, label):
		return unfit("drive", "fuel", string(label.fuel))
	case q.car.Year != 0 && label.YearsOff(q.car.Year) > maxYearGap:
		return unfit("year", "years", strconv.Itoa(maxYearGap), "listed", strconv.Itoa(q.car.Year))
	case bodiesConflict(q.body, label.body):
		return unfit("body", "body", label.body, "listed", q.body)
	}
	return message.Text{}
}

// contradiction refuses a label that has the listing's code, but not its
// engine, fuel or body. A year that is far off is left to the authority's list
// of years.
func (q *query) contradiction(code chassis.Code, label *indexed) error {
	var key string
	with := q.values("code", code.Code, "model", label.Model)
	switch class := q.fuelClass(code); {
	case fuelsClash(class, label.fuel, false):
		key, with["fuel"], with["listed"] = "fuel_conflict.code", string(label.fuel), string(class)
		with["source"] = q.car.SourceOf("fuel", "modelCode").Key()
	case ccFarOff(q.car.EngineCC, label.CC):
		key, with["cc"], with["listed"] = "ambiguous_match.engine", strconv.Itoa(label.CC), strconv.Itoa(q.car.EngineCC)
		with["source"] = q.car.SourceOf("engine_cc", "modelCode").Key()
	case bodiesConflict(q.body, label.body) || q.isOtherBus(label):
		key, with["body"], with["listed"] = "ambiguous_match.body", label.body, q.body
	default:
		return nil
	}
	return q.refuse(key, with, code, []catalogue.Label{label.Label})
}

// isOver refuses a label whose production ended more than three years before the car was
// made: a name outlives its codes, so that the code is a typing error or another car's. The
// model's entries of that year come first, and the old one last.
func (q *query) isOver(code chassis.Code, label *indexed) error {
	if q.car.Year == 0 || q.car.ListedYear != 0 || label.To == 0 || q.car.Year-label.To <= maxYearGap {
		return nil
	}
	with := q.of("year", "code", code.Code, "model", label.Model, "to", strconv.Itoa(label.To), "year", strconv.Itoa(q.car.Year))
	scored := slices.DeleteFunc(q.scored(code, nil), func(s Scored) bool { return s.ModelBody == label.Text })
	return refusal("year_not_listed.code", with).with(scored[:min(len(scored), MaxCandidates-1)]).
		with([]Scored{q.newScored(code, label, 0)})
}

// isOtherBus reports whether either the label or the listing, but not both, is a
// bus for commuters, and the other one a van: the same model with other taxes.
func (q *query) isOtherBus(label *indexed) bool {
	isBus := func(words []string) bool { return slices.Contains(words, "COMMUTER") }
	listed, entry := isBus(q.name.words), isBus(q.index.nameplates[label.nameplate].words)
	return entry && !listed && q.body == "VAN" || listed && !entry && label.body == "VAN"
}

// fits reports whether a car's known size, fuel class and year are those of a
// label, as far as they are known on both sides.
func (q *query) fits(code chassis.Code, label *indexed) bool {
	class := q.fuelClass(code)
	switch {
	case q.car.EngineCC > 0 && label.CC > 0 && abs(q.car.EngineCC-label.CC) > ccAgrees:
		return false
	case class != "" && label.fuel != "" && authorityClass(class) != authorityClass(label.fuel):
		return false
	}
	return q.car.Year == 0 || label.YearsOff(q.car.Year) <= 1
}

// agrees reports whether all three are known on both sides and fit.
func (q *query) agrees(code chassis.Code, label *indexed) bool {
	sized := q.car.EngineCC > 0 && label.CC > 0 || label.fuel == facts.Electric
	known := sized && q.fuelClass(code) != "" && label.fuel != "" && q.car.Year != 0 && label.IsDated()
	return known && q.fits(code, label)
}

// authorityClass puts a diesel hybrid among the diesels, as the authority does
// as far as is known.
func authorityClass(class facts.Fuel) facts.Fuel {
	if class == facts.DieselHybrid {
		return facts.Diesel
	}
	return class
}

// The borders of agreement between engine sizes in cc: listings round.
const (
	ccAgrees = 60
	ccWindow = 100
)

// ccFarOff reports whether two known engine sizes are more than 10 % apart.
func ccFarOff(listed, known int) bool {
	return listed > 0 && known > 0 && 10*abs(listed-known) > known
}

// Fact returns what is known of the car of a label, from the facts of the catalogue first.
func (m *Matcher) Fact(label catalogue.Label) facts.Fact {
	fact := m.options.Facts.Of(label)
	fact.Fuel = labelFuel(label, fact)
	return fact
}

// labelFuel is the fuel of a label's car: a label that says HYBRID is one.
func labelFuel(label catalogue.Label, fact facts.Fact) facts.Fuel {
	if label.Hybrid() && (fact.Fuel == facts.Petrol || fact.Fuel == "") {
		return facts.Hybrid
	}
	return fact.Fuel
}

// fuelsClash reports whether two known fuel classes cannot be one car's. Petrol
// and petrol hybrid clash only when the emission prefix says which the car is:
// sellers mix the words up, and one
// code can stand for both.
func fuelsClash(listed, known facts.Fuel, sure bool) bool {
	a, b := authorityClass(listed), authorityClass(known)
	if a == "" || b == "" || a == b {
		return false
	}
	mixedUp := (a == facts.Petrol || a == facts.Hybrid) && (b == facts.Petrol || b == facts.Hybrid)
	return !mixedUp || sure
}

// freight are the body classes of goods and of many people.
var freight = map[string]bool{"TRUCK": true, "BUS": true, "PICK UP": true}

// private are those that are never mistaken for freight.
var private = map[string]bool{"SEDAN": true, "HATCHBACK": true, "COUPE": true, "CONVERTIBLE": true}

// bodiesConflict reports whether two body classes cannot be confused.
func bodiesConflict(a, b string) bool {
	return freight[a] && private[b] || private[a] && freight[b]
}

//go:embed bodies.csv
var bodyTable string

// bodyClasses folds body words, by their NameKey.
var bodyClasses = func() map[string]string {
	classes := map[string]string{}
	for _, row := range datatable.Rows(bodyTable) {
		for word := range strings.FieldsSeq(row[1]) {
			classes[word] = row[0]
		}
	}
	return classes
}()

// bodyWords may stand at the end of a model's name only to repeat the body:
// HIACE VAN is HIACE. COMMUTER is the makers' word for a minibus.
var bodyWords = strings.Fields("SEDAN SALOON WAGON ESTATE HATCHBACK SUV MINIVAN MPV VAN TRUCK PICKUP COUPE CONVERTIBLE " +
	"MINIBUS BUS COMMUTER")

// bodyClass folds a body word; words not in the table are "".
func bodyClass(body string) string {
	if class, plain := bodyClasses[body]; plain {
		return class
	}
	return bodyClasses[chassis.NameKey(body)]
}
