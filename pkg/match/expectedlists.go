package match

import (
	"context"

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

// Years returns the years of production.
func (l expectedLists) Years(_ context.Context, mk tra.Make, modelBody string) ([]int, error) {
	fact := l.facts.of(tra.ParseLabel(mk, modelBody))
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
	var years []int
	for year := from; year <= to; year++ {
		years = append(years, year)
	}
	return years, nil
}

// Countries returns Japan.
func (l expectedLists) Countries(context.Context, tra.Make, string, int) ([]string, error) {
	return []string{japan}, nil
}

// Fuels returns the authority's name of the label's fuel.
func (l expectedLists) Fuels(_ context.Context, mk tra.Make, modelBody string, _ int, _ string) ([]string, error) {
	label := tra.ParseLabel(mk, modelBody)
	class := labelFuel(label, l.facts.of(label))
	if class == "" {
		class = classOfWord(l.car.Fuel)
	}
	if class == electric {
		return []string{"ELECTRIC"}, nil
	}
	if name, ok := fuelNames[class]; ok {
		return []string{name}, nil
	}
	return []string{fuelNames[petrol]}, nil
}

// Capacities returns the band of the label's engine.
func (l expectedLists) Capacities(_ context.Context, mk tra.Make, modelBody string, _ int, _, _ string) ([]string, error) {
	cc := l.facts.of(tra.ParseLabel(mk, modelBody)).CC
	if cc == 0 {
		cc = l.car.EngineCC
	}
	bands := []string{"1 - 1000 CC", "1001 - 1500 CC", "1501 - 2000 CC", "2001 - 2500 CC", "2501 - 9999 CC"}
	if band := bandOf(cc, bands); band != "" {
		return []string{band}, nil
	}
	return bands[:1], nil
}
