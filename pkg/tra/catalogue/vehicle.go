package catalogue

import "strconv"

// Make is a make with the authority's name and id. Ids change between revisions
// of the database; names do not.
type Make struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Vehicle is the exact tuple that the authority taxes, in its own words.
type Vehicle struct {
	MakeID         int    `json:"makeId"`
	ModelBody      string `json:"modelBody"` // byte for byte as listed
	YOM            int    `json:"yom"`       // year of manufacture
	Country        string `json:"country"`
	FuelType       string `json:"fuelType"`
	EngineCapacity string `json:"engineCapacity"` // a band: "1001 - 1500 CC"
}

// The fields of a vehicle by their names in the authority's lists, in the order of the lists.
const (
	FieldModelBody = "modelBody"
	FieldYear      = "yom" // of manufacture; the only one that is a number
	FieldCountry   = "countryOfOrigin"
	FieldFuel      = "fuelType"
	FieldCapacity  = "engineCapacity"
)

// Next returns the first field that is empty, by its name in the authority's lists; "" when
// none is.
func (v Vehicle) Next() string {
	switch {
	case v.ModelBody == "":
		return FieldModelBody
	case v.YOM == 0:
		return FieldYear
	case v.Country == "":
		return FieldCountry
	case v.FuelType == "":
		return FieldFuel
	case v.EngineCapacity == "":
		return FieldCapacity
	}
	return ""
}

// With returns the vehicle with a value of its next list.
func (v Vehicle) With(value string) Vehicle {
	switch v.Next() {
	case FieldModelBody:
		v.ModelBody = value
	case FieldYear:
		v.YOM, _ = strconv.Atoi(value) // List returns whole numbers
	case FieldCountry:
		v.Country = value
	case FieldFuel:
		v.FuelType = value
	case FieldCapacity:
		v.EngineCapacity = value
	}
	return v
}

// YearsOf returns a list of years of manufacture as numbers.
func YearsOf(list []string) []int {
	years := make([]int, len(list))
	for i, year := range list {
		years[i], _ = strconv.Atoi(year) // List returns whole numbers
	}
	return years
}
