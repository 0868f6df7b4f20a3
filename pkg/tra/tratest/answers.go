package tratest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// query reads the parameters of a call.
type query struct {
	url.Values

	otherLaw bool // calculate by the rules before those in force
}

func (q query) id() int  { id, _ := strconv.Atoi(q.Get("makeId")); return id }
func (q query) yom() int { yom, _ := strconv.Atoi(q.Get("yom")); return yom }

// item is one object of a list answer.
type item map[string]any

func items[T any](field string, values []T) []item {
	list := make([]item, len(values))
	for i, value := range values {
		list[i] = item{field: value}
	}
	return list
}

func (s *Simulator) makes(query) any {
	list := make([]item, len(s.index.names))
	for i, name := range s.index.names {
		list[i] = item{"makeId": s.index.ids[name], "makeName": name}
	}
	return list
}

func (s *Simulator) modelBodies(q query) any {
	entries := s.index.labels[q.id()]
	list := make([]item, len(entries))
	for i, e := range entries {
		list[i] = item{"modelBody": e.label}
	}
	return list
}

func (s *Simulator) years(q query) any {
	if e := s.index.find(q.id(), q.Get("modelBody")); e != nil {
		return items("yom", e.years)
	}
	return []item{}
}

func (s *Simulator) countries(q query) any {
	if e := s.listed(q, 0); e != nil {
		return items("countryOfOrigin", e.countries)
	}
	return []item{}
}

func (s *Simulator) fuels(q query) any {
	if e := s.listed(q, 1); e != nil {
		return items("fuelType", e.fuels)
	}
	return []item{}
}

func (s *Simulator) capacities(q query) any {
	if e := s.listed(q, 2); e != nil {
		return items("engineCapacity", e.bands)
	}
	return []item{}
}

// listed is the entry that a query names with its label, its year and the
// first so many of country, fuel and band; nil when there is none.
func (s *Simulator) listed(q query, words int) *entry {
	e := s.index.find(q.id(), q.Get("modelBody"))
	if e == nil || !slices.Contains(e.years, q.yom()) {
		return nil
	}
	country := q.Get("countryOfOrigin")
	if words == 3 {
		country = q.Get("cuntryOfOrigin") // the authority's spelling, in the last call only
	}
	given := []string{country, q.Get("fuelType"), q.Get("engineCapacity")}
	for i, known := range [][]string{e.countries, e.fuels, e.bands}[:words] {
		if !slices.Contains(known, given[i]) {
			return nil
		}
	}
	return e
}

// details calculates the tax at the simulator's date, null for a vehicle that
// is not listed.
func (s *Simulator) details(q query) any {
	e := s.listed(q, 3)
	if e == nil {
		return nil
	}
	now := s.now().In(localtime.Zone)
	age := duty.Age(now, q.yom())
	car := duty.Vehicle{CC: capacity(q.Get("engineCapacity")), Fuel: q.Get("fuelType"), Age: age}
	rules := duty.On(now)
	if before, known := rules.Before(); known && q.otherLaw {
		rules = before
	}
	tax := rules.Compute(car, e.cif(age), s.options.FX)
	year, quarter := s.options.Year, s.options.Quarter
	if year == 0 {
		year = now.Year()
	}
	if quarter == 0 {
		quarter = (int(now.Month())-1)/3 + 1
	}
	parts := strings.Split(e.label, " - ")
	return vehicle.Tax{
		ReferenceNumber:             s.reference(year, quarter),
		Make:                        s.index.name(q.id()),
		Model:                       parts[0],
		BodyType:                    parts[len(parts)-1],
		ModelBody:                   e.label,
		YOM:                         q.yom(),
		Country:                     q.Get("cuntryOfOrigin"),
		FuelType:                    q.Get("fuelType"),
		EngineCapacity:              q.Get("engineCapacity"),
		CIFInUSD:                    tax.CIF,
		ImportDutyInUSD:             tax.ImportDuty,
		ExiseDutyInUSD:              tax.Excise,
		ExiseDutyDueToAgeInUSD:      tax.AgeExcise,
		VATInUSD:                    tax.VAT,
		CustomProcessingFeeInUSD:    tax.ProcessingFee,
		RailwayDevLevyInUSD:         tax.RailwayLevy,
		IndDevLevy:                  tax.IndustrialLevy,
		HIVRespLevy:                 tax.HIVLevy,
		TotalImportTaxesInUSD:       tax.TotalUSD,
		TotalImportTaxesInTZS:       tax.TotalTZS,
		VehicleRegistrationFeeInTZS: tax.Registration,
		TotalTaxesInTZS:             tax.GrandTotalTZS,
		Quarter:                     quarter,
		Year:                        year,
	}
}

// capacity is the size in cc that a band is taxed as: its upper end, or a step
// above the lower end of an open one.
func capacity(band string) int {
	words := strings.Fields(strings.TrimSuffix(band, " CC"))
	last, _ := strconv.Atoi(words[len(words)-1])
	if words[0] == "ABOVE" {
		return last + 1
	}
	return last
}

// numbers turns the money of a calculation into JSON numbers.
func numbers(tax vehicle.Tax) map[string]any {
	body, err := json.Marshal(tax)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(body, &fields)
	}
	if err != nil {
		panic(err) // our own type, both ways
	}
	for name, value := range fields {
		text, isText := value.(string)
		if number, err := money.ParseNumber(text); isText && err == nil {
			fields[name] = number
		}
	}
	return fields
}
