package match

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// Lister returns the authority's lists for one label: the values of the first empty field of a
// vehicle. An empty list without an error means that the authority lists nothing.
type Lister interface {
	List(ctx context.Context, mk catalogue.Make, v catalogue.Vehicle) ([]string, error)
}

// Resolve chooses the authority's year, country, fuel and engine band for a
// chosen label. It returns the match and the exact tuple of the tax
// calculation. Every value that differs from the listing's is an adjustment,
// in the order model, code, year, country, fuel, band. Resolve refuses with an
// *Error: listing_incomplete, not_listed, year_not_listed, ambiguous_match, fuel_conflict
// or no_capacity_band. It returns the Lister's errors unchanged.
//
// The four lists depend on each other. For most cars their contents can be
// predicted, so Resolve requests all four at once, and repeats the round when
// the prediction was wrong.
func Resolve(ctx context.Context, car vehicle.Car, choice Choice, lists Lister) (vehicle.Matched, catalogue.Vehicle, error) {
	if car.Year == 0 {
		key := "listing_incomplete.year"
		if car.Source == vehicle.FromListing {
			key = "listing_incomplete.year_known"
		}
		return vehicle.Matched{}, catalogue.Vehicle{}, refusal(key, sourced(car))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := resolver{
		choice: choice, car: car, label: catalogue.ParseLabel(choice.Make, choice.Label),
		tuple: catalogue.Vehicle{MakeID: choice.Make.ID, ModelBody: choice.Label}, adjustments: slices.Clone(choice.Adjustments),
	}
	r.code, _ = chassis.Parse(car.RawModelCode)
	r.lists = &prefetcher{lists, map[catalogue.Vehicle]chan fetched{}}
	r.lists.prefetch(ctx, r.label, car.Year, japan, r.expected(false))
	for _, step := range []struct {
		none string // the key for an empty list
		pick func(list []string) (value string, adjusted []vehicle.Adjustment, err error)
	}{
		{"no_year", r.year}, {"no_country", pickCountry}, {"no_fuel", r.fuel}, {"no_capacity", r.band},
	} {
		list, err := r.lists.List(ctx, r.label.Make, r.tuple)
		if err == nil && len(list) == 0 {
			err = r.notListed(step.none)
		}
		if err != nil {
			return vehicle.Matched{}, catalogue.Vehicle{}, err
		}
		value, adjusted, err := step.pick(list)
		if err != nil {
			return vehicle.Matched{}, catalogue.Vehicle{}, err
		}
		r.tuple = r.tuple.With(value)
		r.adjustments = append(r.adjustments, adjusted...)
		r.predictAgain(ctx)
	}
	return r.matched(), r.tuple, nil
}

// resolver holds the state of one Resolve: each step sets one value of tuple.
type resolver struct {
	choice      Choice
	car         vehicle.Car
	label       catalogue.Label
	code        chassis.Code
	lists       *prefetcher
	tuple       catalogue.Vehicle
	adjustments []vehicle.Adjustment
}

func (r *resolver) year(list []string) (string, []vehicle.Adjustment, error) {
	years := catalogue.YearsOf(list)
	yom, adjusted, ok := pickYear(r.car.Year, r.car.ListedYear, years)
	if !ok {
		return "", nil, r.yearNotListed(yom, years)
	}
	return strconv.Itoa(yom), adjusted, nil
}

func (r *resolver) fuel(fuels []string) (string, []vehicle.Adjustment, error) {
	fuel, adjusted, err := pickFuel(r.car, r.code, r.label, fuels)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == fuelConflict && r.choice.MatchedBy == vehicle.ByCaller {
		// The caller chose the entry in spite of the emission prefix.
		fuel, adjusted, err = pickFuel(r.car, chassis.Code{}, r.label, fuels)
	}
	calledElectrified := len(r.choice.Electrified) > 0 && r.choice.MatchedBy != vehicle.ByCaller
	if err == nil && calledElectrified && !isElectrified(facts.FuelOf(fuel)) {
		err = r.notElectrified(fuel)
	}
	return fuel, adjusted, err
}

func (r *resolver) band(bands []string) (string, []vehicle.Adjustment, error) {
	return pickBand(r.car, r.choice.EngineCC, bands)
}

// notElectrified refuses a petrol fuel for a car that the listing calls a hybrid,
// while the model has hybrid entries.
func (r *resolver) notElectrified(fuel string) error {
	const key = "ambiguous_match.not_hybrid"
	with := values{"fuel": fuel}
	refused := refusal(key, with).whole(key, "signal", with, signalOf(r.car, r.code).text())
	texts := append(slices.Clone(r.choice.Electrified), r.label.Text)
	for _, text := range texts[:min(len(texts), MaxCandidates)] {
		refused.Candidates = append(refused.Candidates, vehicle.Candidate{
			Make: r.label.Make.Name, ModelBody: text, Nearness: vehicle.NearCode,
		})
	}
	return refused
}

// yearNotListed refuses a year of the authority's list that is too far from the car's own.
// The candidates are the entry in its nearest years, to which a caller can consent.
func (r *resolver) yearNotListed(nearest int, years []int) error {
	const most = 5
	years = slices.SortedFunc(slices.Values(years), func(a, b int) int { return abs(a-r.car.Year) - abs(b-r.car.Year) })
	refused := refusal(YearNotListed, values{
		"year": strconv.Itoa(r.car.Year), "nearest": strconv.Itoa(nearest), "entry": r.label.Text,
	})
	for _, year := range years[:min(most, len(years))] {
		refused.Candidates = append(refused.Candidates, vehicle.Candidate{
			Make: r.label.Make.Name, ModelBody: r.label.Text, Nearness: vehicle.NearFamily, YearFrom: year, YearTo: year,
		})
	}
	return refused
}

func (r *resolver) notListed(what string) error {
	return refusal(NotListed, values{"what": what, "make": r.label.Make.Name, "entry": r.label.Text})
}

func (r *resolver) matched() vehicle.Matched {
	choice := r.choice
	adjustments := append([]vehicle.Adjustment{}, r.adjustments...)
	return vehicle.Matched{
		Make: choice.Make.Name, MakeID: choice.Make.ID, ModelBody: choice.Label,
		MatchType: choice.MatchType, MatchedBy: choice.MatchedBy, MatchReason: choice.Reason,
		ReasonCode: choice.Why.Code, Text: choice.Why.Text, Values: choice.Why.Values,
		Confidence: yearConfidence(Confidence(choice.MatchType, adjustments), r.car), Adjustments: adjustments,
		YOM: r.tuple.YOM, Country: r.tuple.Country, FuelType: r.tuple.FuelType, CapacityBand: r.tuple.EngineCapacity,
	}
}

// Confidence grades a match by three rules (docs/estimate.md, matched):
//  1. high: exact code match with no adjustments;
//  2. medium: exact match with minor adjustments, or fuzzy match with none;
//  3. low: fuzzy match with adjustments, or the model or year was substituted.
//
// Every adjustment of another field than model and yom is minor. A model that
// differs only in form is adjusted as modelBody and is minor too.
func Confidence(matchType vehicle.MatchType, adjustments []vehicle.Adjustment) vehicle.Confidence {
	exact := matchType == vehicle.ExactCode
	for _, a := range adjustments {
		if !exact || a.Field == "model" || a.Field == "yom" {
			return vehicle.Low
		}
	}
	if exact && len(adjustments) == 0 {
		return vehicle.High
	}
	return vehicle.Medium
}

// yearConfidence lowers high to medium when the year of the car is in doubt: it is a
// model year or stands in the title only, or the title names a year two or more years
// away from it.
func yearConfidence(grade vehicle.Confidence, car vehicle.Car) vehicle.Confidence {
	doubtful := car.YearBasis == "model" || car.YearBasis == "title" || car.TitleYear != 0
	if grade == vehicle.High && doubtful {
		return vehicle.Medium
	}
	return grade
}

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

// maxYearsApart is how far a year of the authority's list may be from the car's own:
// values of cars further apart have little to do with each other.
const maxYearsApart = 3

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

// japan is the expected country of origin.
const japan = "JAPAN"

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

// wantedClass returns the fuel class to look for in the authority's list: the
// prefix decides, then a label or a name with HYBRID, then the listing's fuel.
func wantedClass(car vehicle.Car, code chassis.Code, label catalogue.Label) facts.Fuel {
	class := carClass(car.Fuel, code, namedClass(car))
	if label.Hybrid() && (class == facts.Petrol || class == "") {
		return facts.Hybrid
	}
	return class
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

// pickBand takes the band that holds the car's engine size. Listings round:
// where the size that is known of the label's car is within 60 cc of the
// listed one but in another band, or the listing gives none, it decides. A car
// without any engine size (electric, or not given) gets the only band there
// is.
func pickBand(car vehicle.Car, known int, bands []string) (string, []vehicle.Adjustment, error) {
	listed := bandOf(car.EngineCC, bands)
	if known > 0 && (car.EngineCC <= 0 || abs(car.EngineCC-known) <= ccAgrees) {
		if band := bandOf(known, bands); band != "" && band != listed {
			reason := "engine_known"
			if car.EngineCC <= 0 {
				reason = "engine_known.not_given"
			}
			with := sourced(car, "cc", strconv.Itoa(known))
			return band, []vehicle.Adjustment{vehicle.Adjusted("engine_cc", car.EngineCC, known, reason, with)}, nil
		}
	}
	switch {
	case listed != "":
		return listed, nil, nil
	case car.EngineCC > 0:
		return "", nil, refusal(noCapacityBand,
			values{"cc": strconv.Itoa(car.EngineCC), "bands": strings.Join(bands, ", ")})
	case len(bands) == 1:
		only := vehicle.Adjusted("capacityBand", car.EngineCC, bands[0], "one_band", sourced(car))
		return bands[0], []vehicle.Adjustment{only}, nil
	}
	return "", nil, refusal("listing_incomplete.engine", sourced(car, "bands", strings.Join(bands, ", ")))
}

// bandOf finds the band that holds an engine size in cc; where bands overlap,
// the narrowest. It is "" when there is none, or no size.
func bandOf(cc int, bands []string) string {
	best, found := "", capacity{}
	if cc <= 0 {
		return best
	}
	for _, band := range slices.Sorted(slices.Values(bands)) {
		c, ok := parseCapacity(band)
		if ok && c.holds(cc) && (best == "" || c.width() < found.width()) {
			best, found = band, c
		}
	}
	return best
}

// capacity is an engine capacity band in cc, both bounds included.
type capacity struct{ low, high int }

func (c capacity) holds(cc int) bool { return c.low <= cc && cc <= c.high }

func (c capacity) width() int { return c.high - c.low }

// parseCapacity reads "1001 - 1500 CC" and open-ended texts: a single number
// with UP TO, BELOW or the like is the upper bound, any other single number
// (ABOVE 2500 CC, 2501+, OVER 3000) the lower one.
func parseCapacity(text string) (capacity, bool) {
	text = chassis.Normalise(text)
	switch numbers := vehicle.BandNumbers(text); {
	case len(numbers) == 2 && numbers[0] <= numbers[1]:
		return capacity{numbers[0], numbers[1]}, true
	case len(numbers) == 1 && upTo.MatchString(text):
		return capacity{0, numbers[0]}, true
	case len(numbers) == 1:
		return capacity{numbers[0], math.MaxInt}, true
	}
	return capacity{}, false
}

var upTo = regexp.MustCompile(`\b(UP ?TO|BELOW|UNDER|LESS|MAX(IMUM)?|NOT (EXCEEDING|OVER|ABOVE|MORE)|NOT EXCEED)\b`)

// predictAgain repeats the round of predicted calls when the year or the country that was just
// picked is not the predicted one.
func (r *resolver) predictAgain(ctx context.Context) {
	switch {
	case r.tuple.FuelType != "":
	case r.tuple.Country == "" && r.tuple.YOM != r.car.Year:
		r.lists.prefetch(ctx, r.label, r.tuple.YOM, japan, r.expected(true))
	case r.tuple.Country != "" && r.tuple.Country != japan:
		r.lists.prefetch(ctx, r.label, r.tuple.YOM, r.tuple.Country, r.expected(true))
	}
}

// expected returns the authority's names of the fuels that the car may have, as far as they are
// known. In a second round, of another year or country, they are both petrol and hybrid: another
// round costs more than one call.
func (r *resolver) expected(second bool) (fuels []string) {
	class := wantedClass(r.car, r.code, r.label)
	if second && (class == facts.Petrol || class == facts.Hybrid || class == "") {
		return []string{fuelNames[facts.Petrol], fuelNames[facts.Hybrid]}
	}
	if name, known := fuelNames[class]; known {
		fuels = append(fuels, name)
	}
	return fuels
}

// fuelNames are the authority's names of the fuels, as far as they have been
// observed.
var fuelNames = map[facts.Fuel]string{
	facts.Petrol: "PETROL", facts.Diesel: "DIESEL", facts.DieselHybrid: "DIESEL", facts.Hybrid: "PETROL & ELECTRIC",
}

// prefetcher is a Lister that starts predicted calls early. A predicted call
// waits for its result; any other call is made when it is needed.
type prefetcher struct {
	Lister
	started map[catalogue.Vehicle]chan fetched
}

// fetched is the result of a call.
type fetched struct {
	values []string
	err    error
}

// prefetch requests the countries, fuels and bands of a label at once, for a predicted year,
// country and some fuels. It turns four consecutive calls into one round when the prediction is
// right, and makes needless calls when it is not. Running calls end with the context.
func (p *prefetcher) prefetch(ctx context.Context, label catalogue.Label, yom int, country string, fuels []string) {
	v := catalogue.Vehicle{MakeID: label.Make.ID, ModelBody: label.Text, YOM: yom}
	p.start(ctx, label.Make, v)
	v.Country = country
	p.start(ctx, label.Make, v)
	for _, v.FuelType = range fuels {
		p.start(ctx, label.Make, v)
	}
}

// start starts a call unless it was started before. A result that is never
// waited for is discarded together with its error.
func (p *prefetcher) start(ctx context.Context, mk catalogue.Make, v catalogue.Vehicle) {
	if p.started[v] == nil {
		result := make(chan fetched, 1)
		p.started[v] = result
		go func() {
			values, err := p.Lister.List(ctx, mk, v)
			result <- fetched{values, err}
		}()
	}
}

// List returns the next list of a vehicle, from the prefetched call if there is one. It is called
// once for a vehicle.
func (p *prefetcher) List(ctx context.Context, mk catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	if result := p.started[v]; result != nil {
		got := <-result
		return got.values, got.err
	}
	return p.Lister.List(ctx, mk, v)
}
