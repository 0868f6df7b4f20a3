package match

import (
	"context"
	"slices"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// Lister answers the authority's lists for one label. An empty list is an
// answer: nothing is listed.
type Lister interface {
	Years(ctx context.Context, mk tra.Make, modelBody string) ([]int, error)
	Countries(ctx context.Context, mk tra.Make, modelBody string, yom int) ([]string, error)
	Fuels(ctx context.Context, mk tra.Make, modelBody string, yom int, country string) ([]string, error)
	Capacities(ctx context.Context, mk tra.Make, modelBody string, yom int, country, fuel string) ([]string, error)
}

// Resolve settles on the authority's year, country, fuel and engine band for a
// chosen label, and returns the whole match with the exact tuple to ask the
// tax for. Every value that is not the listing's own is an adjustment; they
// stand in the order model, code, year, country, fuel, band. It refuses with
// an *Error: listing_incomplete, not_listed, ambiguous_match, fuel_conflict or
// no_capacity_band. The Lister's own errors come back unchanged.
//
// The four lists depend on each other, but for most cars the answers can be
// foreseen, so that all four are asked at once, and those that depend on what
// was not foreseen at once again.
func Resolve(ctx context.Context, car vehicle.Car, choice Choice, lists Lister) (vehicle.Matched, tra.Vehicle, error) {
	if car.Year == 0 {
		return vehicle.Matched{}, tra.Vehicle{}, refusal(ListingIncomplete, "the listing gives no year")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := walk{
		car: car, known: choice.EngineCC, label: tra.ParseLabel(choice.Make, choice.Label),
		tuple: tra.Vehicle{MakeID: choice.Make.ID, ModelBody: choice.Label}, adjustments: slices.Clone(choice.Adjustments),
	}
	w.code, _ = chassis.Parse(car.RawModelCode)
	w.lists = &ahead{lists, map[listKey]*answerTo{}}
	w.lists.expect(ctx, w.label, w.foresee())
	for _, step := range []func(context.Context) error{w.year, w.country, w.fuel, w.band} {
		if err := step(ctx); err != nil {
			return vehicle.Matched{}, tra.Vehicle{}, err
		}
	}
	return w.matched(choice), w.tuple, nil
}

// walk is the way from a label to the tuple, step by step.
type walk struct {
	car         vehicle.Car
	label       tra.Label
	code        chassis.Code
	lists       *ahead
	tuple       tra.Vehicle
	known       int // engine size that is known of the label's car; 0: none
	adjustments []vehicle.Adjustment
}

func (w *walk) year(ctx context.Context) error {
	years, err := w.lists.Years(ctx, w.label.Make, w.label.Text)
	if err != nil {
		return err
	}
	if len(years) == 0 {
		return w.notListed("no year of manufacture")
	}
	var adjusted []vehicle.Adjustment
	w.tuple.YOM, adjusted = pickYear(w.car.Year, years)
	w.adjustments = append(w.adjustments, adjusted...)
	if w.tuple.YOM != w.car.Year {
		w.lists.expect(ctx, w.label, w.foreseeAgain())
	}
	return nil
}

func (w *walk) country(ctx context.Context) error {
	countries, err := w.lists.Countries(ctx, w.label.Make, w.label.Text, w.tuple.YOM)
	if err != nil {
		return err
	}
	if len(countries) == 0 {
		return w.notListed("no country of origin")
	}
	country, adjusted, err := pickCountry(countries)
	w.tuple.Country = country
	w.adjustments = append(w.adjustments, adjusted...)
	if err == nil && country != japan {
		again := w.foreseeAgain()
		again.country = country
		w.lists.expect(ctx, w.label, again)
	}
	return err
}

func (w *walk) fuel(ctx context.Context) error {
	fuels, err := w.lists.Fuels(ctx, w.label.Make, w.label.Text, w.tuple.YOM, w.tuple.Country)
	if err != nil {
		return err
	}
	if len(fuels) == 0 {
		return w.notListed("no fuel")
	}
	fuel, adjusted, err := pickFuel(w.car, w.code, w.label, fuels)
	w.tuple.FuelType = fuel
	w.adjustments = append(w.adjustments, adjusted...)
	return err
}

func (w *walk) band(ctx context.Context) error {
	bands, err := w.lists.Capacities(ctx, w.label.Make, w.label.Text, w.tuple.YOM, w.tuple.Country, w.tuple.FuelType)
	if err != nil {
		return err
	}
	if len(bands) == 0 {
		return w.notListed("no engine capacity")
	}
	band, adjusted, err := pickBand(w.car, w.known, bands)
	w.tuple.EngineCapacity = band
	w.adjustments = append(w.adjustments, adjusted...)
	return err
}

func (w *walk) notListed(what string) error {
	return refusal(NotListed, "the authority lists "+what+" for "+w.label.Make.Name+" "+w.label.Text)
}

func (w *walk) matched(choice Choice) vehicle.Matched {
	adjustments := append([]vehicle.Adjustment{}, w.adjustments...)
	return vehicle.Matched{
		Make: choice.Make.Name, MakeID: choice.Make.ID, ModelBody: choice.Label,
		MatchType: choice.MatchType, MatchReason: choice.Reason,
		Confidence: Confidence(choice.MatchType, adjustments), Adjustments: adjustments,
		YOM: w.tuple.YOM, Country: w.tuple.Country, FuelType: w.tuple.FuelType, CapacityBand: w.tuple.EngineCapacity,
	}
}
