package evaluate

import (
	"cmp"
	"context"
	"strconv"

	"ushuru/pkg/match"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// expectedLists are the lists that the authority would have for a label if the facts of the
// catalogue were complete, so that Resolve runs without the authority. The car supplies what the
// facts lack.
type expectedLists struct {
	matcher *match.Matcher
	car     vehicle.Car
}

// lastYear is the last year of cars that are still made.
const lastYear = 2026

// bands are the engine bands, the last one without an end.
var bands = []struct {
	from int
	name string
}{{2501, "2501 - 9999 CC"}, {2001, "2001 - 2500 CC"}, {1501, "1501 - 2000 CC"}, {1001, "1001 - 1500 CC"}, {0, "1 - 1000 CC"}}

// fuels are the authority's names of fuels; PETROL for all others.
var fuels = map[facts.Fuel]string{
	"electric": "ELECTRIC", "diesel": "DIESEL", "diesel hybrid": "DIESEL", "petrol hybrid": "PETROL & ELECTRIC",
}

// List returns the years of production, Japan, the authority's name of the label's fuel, or the
// band of its engine.
func (l expectedLists) List(_ context.Context, mk catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	fact := l.matcher.Fact(catalogue.ParseLabel(mk, v.ModelBody))
	switch {
	case v.YOM == 0:
		return l.years(fact), nil
	case v.Country == "":
		return []string{"JAPAN"}, nil
	case v.FuelType == "":
		class := cmp.Or(fact.Fuel, facts.FuelOf(l.car.Fuel))
		return []string{cmp.Or(fuels[class], "PETROL")}, nil
	}
	name := bands[len(bands)-1].name
	for _, band := range bands {
		if cc := cmp.Or(fact.CC, l.car.EngineCC); cc >= band.from && cc <= 9999 {
			name = band.name
			break
		}
	}
	return []string{name}, nil
}

func (l expectedLists) years(fact facts.Fact) (years []string) {
	from, to := fact.From, fact.To
	switch {
	case from == 0 && to == 0:
		from = cmp.Or(l.car.Year, lastYear)
		to = from
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
