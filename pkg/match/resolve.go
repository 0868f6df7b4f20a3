package match

import (
	"context"
	"errors"
	"slices"
	"strconv"

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
		choice: choice, car: car, known: choice.EngineCC, label: catalogue.ParseLabel(choice.Make, choice.Label),
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
	return r.matched(choice), r.tuple, nil
}

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

// resolver holds the state of one Resolve: each step sets one value of tuple.
type resolver struct {
	choice      Choice
	car         vehicle.Car
	label       catalogue.Label
	code        chassis.Code
	lists       *prefetcher
	tuple       catalogue.Vehicle
	known       int // engine size of the label's car in cc; 0 when not known
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
	return pickBand(r.car, r.known, bands)
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

func (r *resolver) matched(choice Choice) vehicle.Matched {
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
