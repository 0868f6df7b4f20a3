package sheet

import (
	_ "embed" // colours.csv
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
	"ushuru/pkg/vehicle"
)

// Mismatch is a value that differs between a sheet and its listing.
type Mismatch struct {
	Field   string `json:"field"` // chassis_code, year, cc, mileage_km or colour
	Sheet   string `json:"sheet"`
	Listing string `json:"listing"`
	// YearBasis is the basis of the listing's year. A year of manufacture or model
	// can be earlier than the first registration on the sheet.
	YearBasis string `json:"year_basis,omitempty"`
}

// Name returns the name of the field in a language.
func (m Mismatch) Name(lang string) string { return TextOf("field", m.Field).In(lang) }

// maxCCDifference is how far two equal engine sizes may differ: sheets round to ten
// or to a hundred.
const maxCCDifference = 50

// Compare compares the sheet with the car of a listing. A value that one of them
// does not give is not compared. The result is never nil: nil means that no
// listing of the sheet is known.
func Compare(r *Report, car vehicle.Car) []Mismatch {
	list, numbers := []Mismatch{}, compareNumbers(r, car)
	if code, ok := chassis.Parse(car.RawModelCode); ok && r.Vehicle.ChassisCode != nil &&
		!chassis.StemMatch(code.Code, *r.Vehicle.ChassisCode) {
		list = append(list, Mismatch{Field: "chassis_code", Sheet: *r.Vehicle.ChassisCode, Listing: code.Code})
	}
	if date := r.Dates.FirstRegistration; date != nil && car.Year > 0 && (*date)[:4] != strconv.Itoa(car.Year) {
		list = append(list, Mismatch{"year", (*date)[:4], strconv.Itoa(car.Year), car.YearBasis})
	}
	return append(list, numbers...)
}

// compareNumbers compares engine size, mileage and colour.
func compareNumbers(r *Report, car vehicle.Car) (list []Mismatch) {
	if cc := r.Vehicle.CC; cc != nil && *cc > 0 && car.EngineCC > 0 && max(*cc-car.EngineCC, car.EngineCC-*cc) > maxCCDifference {
		list = append(list, Mismatch{Field: "cc", Sheet: strconv.Itoa(*cc), Listing: strconv.Itoa(car.EngineCC)})
	}
	if km := r.Mileage.ValueKM; km != nil && car.MileageKM != nil && !sameMileage(&r.Mileage, *car.MileageKM) {
		list = append(list, Mismatch{Field: "mileage_km", Sheet: strconv.Itoa(*km), Listing: strconv.Itoa(*car.MileageKM)})
	}
	if sheet, listed := colourFamily(r), listedColour(car.Colour); sheet != "" && listed != "" && sheet != listed {
		list = append(list, Mismatch{Field: "colour", Sheet: sheet, Listing: listed})
	}
	return list
}

// sameMileage allows the listing to round to thousands. Of a number that may be in
// thousands, either reading counts.
func sameMileage(m *Mileage, listed int) bool {
	km := *m.ValueKM
	rounded := listed%1000 == 0 && (km/1000*1000 == listed || (km+500)/1000*1000 == listed)
	return km == listed || rounded || m.Thousands != nil && *m.Thousands == listed
}

// colourFamily returns the colour of the sheet in the coarse words of listings.
func colourFamily(r *Report) string {
	if r.Vehicle.ColourJP == nil {
		return ""
	}
	parts := SplitColours(*r.Vehicle.ColourJP)
	w, _ := WordOf("colour", parts[len(parts)-1])
	return w.Value
}

//go:embed colours.csv
var colourTable string

// families are the words of listings for a colour, with the colours of sheets.
var families = datatable.Rows(colourTable)

func listedColour(text string) string {
	text = strings.ToUpper(text)
	for _, f := range families {
		if strings.Contains(text, f[0]) {
			return f[1]
		}
	}
	return ""
}
