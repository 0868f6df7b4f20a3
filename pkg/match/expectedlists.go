package match

import (
	"cmp"
	"context"
	"strconv"

	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// ExpectedLists returns the lists that the authority would have for a label if
// the facts of the catalogue were complete, so that an evaluation can run Resolve
// without the authority. The car supplies what the facts lack.
func (m *Matcher) ExpectedLists(car vehicle.Car) Lister { return expectedLists{m.options.Facts, car} }

type expectedLists struct {
	facts Facts
	car   vehicle.Car
}

// lastYear is the last year of cars that are still made.
const lastYear = 2026

// List returns the years of production, Japan, the authority's name of the label's fuel, or the
// band of its engine.
func (l expectedLists) List(_ context.Context, mk tra.Make, v tra.Vehicle) ([]string, error) {
	label := tra.ParseLabel(mk, v.ModelBody)
	fact := l.facts.of(label)
	switch {
	case v.YOM == 0:
		return l.years(fact), nil
	case v.Country == "":
		return []string{japan}, nil
	case v.FuelType == "":
		class := cmp.Or(labelFuel(label, fact), classOfWord(l.car.Fuel))
		if class == electric {
			return []string{"ELECTRIC"}, nil
		}
		return []string{cmp.Or(fuelNames[class], fuelNames[petrol])}, nil
	}
	bands := []string{"1 - 1000 CC", "1001 - 1500 CC", "1501 - 2000 CC", "2001 - 2500 CC", "2501 - 9999 CC"}
	return []string{cmp.Or(bandOf(cmp.Or(fact.CC, l.car.EngineCC), bands), bands[0])}, nil
}

func (l expectedLists) years(fact Fact) (years []string) {
	from, to := fact.From, fact.To
	switch {
	case !fact.dated() && l.car.Year == 0:
		from, to = lastYear, lastYear
	case !fact.dated():
		from, to = l.car.Year, l.car.Year
	case from == 0:
		from = to - 1
	case to == 0:
		to = max(from, lastYear)
	}
	for year := from; year <= to; year++ {
		years = append(years, strconv.Itoa(year))
	}
	return years
}
