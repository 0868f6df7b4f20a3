package web

import (
	"net/http"

	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// yearsBeside is how many years before and after that of a car its page shows.
const yearsBeside = 2

// yearCost is what a car costs if it was made in a year.
type yearCost struct {
	Year int
	Cost *vehicle.Sum // nil where the authority's answer is not known yet
	Own  bool         // it is the year of the car
}

// yearsOf returns what a car costs if it was made in a year beside its own, on the terms of the
// answer; none for a car whose cost is not known, nor beside figures of another day.
func (p *Pages) yearsOf(r *http.Request, found *link, view *result) (years []yearCost, err error) {
	if view.Summary.OnTheRoad == nil || view.Old || view.Car.Year == 0 {
		return nil, nil
	}
	label := view.Matched.ModelBody
	for year := view.Car.Year - yearsBeside; year <= min(view.Car.Year+yearsBeside, localtime.Of(found.Made).Year()); year++ {
		if year == view.Car.Year {
			years = append(years, yearCost{year, view.Summary.OnTheRoad, true})
			continue
		}
		car := view.Car
		car.Make, car.Year = view.Matched.Make, year
		costs, err := p.knownCosts(r, found, car, []string{label})
		if err != nil {
			return nil, err
		}
		other := yearCost{Year: year}
		if known := costs[label]; known.Summary != nil && known.Matched.YOM == year {
			other.Cost = known.Summary.OnTheRoad
		}
		years = append(years, other)
	}
	return years, nil
}
