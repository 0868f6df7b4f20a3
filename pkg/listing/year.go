package listing

import (
	"strconv"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/vehicle"
)

// The bases of a car's year. TRA taxes by the year of manufacture; the others stand
// in for it.
const (
	basisManufacture  = "manufacture"
	basisRegistration = "registration"
	basisModel        = "model"
	basisTitle        = "title"
)

// maxYearDifference is how far the year of a title may be from the car's year. One
// year is usual between manufacture, registration and model.
const maxYearDifference = 1

// setYear takes the year of manufacture, else that of the first registration, else
// the model year, else a year of the title. Any basis but the first is a warning.
func (l *Listing) setYear(doc *page.Document) {
	car := &l.Car
	for _, basis := range []struct{ name, value string }{
		{basisManufacture, car.Manufacture},
		{basisRegistration, car.Registration},
		{basisModel, l.field(claim.FieldModelYear).Value},
		{basisTitle, l.field(claim.FieldTitleYear).Value},
	} {
		if y, ok := claim.ParseDatedYear(basis.value); ok {
			car.Year, car.YearBasis = y, basis.name
			break
		}
	}
	if car.YearBasis != "" && car.YearBasis != basisManufacture {
		l.warn(car.YearBasis+"_year", values{"year": strconv.Itoa(car.Year)})
	}
	l.compareTitleYear(doc)
	l.compareModelYear()
}

// compareModelYear warns when the model year is two or more years away from the year
// taken.
func (l *Listing) compareModelYear() {
	car := &l.Car
	named, ok := claim.ParseDatedYear(l.field(claim.FieldModelYear).Value)
	if !ok || car.Year == 0 || named-car.Year <= maxYearDifference && car.Year-named <= maxYearDifference {
		return
	}
	if car.TitleYear == 0 {
		car.TitleYear = named
	}
	taken, other := strconv.Itoa(car.Year), strconv.Itoa(named)
	l.warn("other_model_year", values{"year": taken, "modelYear": other})
}

// compareTitleYear warns when the title or the heading of the page names a year that
// is two or more years away from the year taken.
func (l *Listing) compareTitleYear(doc *page.Document) {
	car := &l.Car
	if car.Year == 0 {
		return
	}
	titles := []string{doc.Title, doc.Meta["og:title"]}
	if h1 := doc.Tags[atom.H1]; len(h1) > 0 {
		titles = append(titles, dom.Text(h1[0]))
	}
	for _, title := range titles {
		named, ok := claim.ParseYear(title)
		if !ok || named-car.Year <= maxYearDifference && car.Year-named <= maxYearDifference {
			continue
		}
		car.TitleYear = named
		taken, other := strconv.Itoa(car.Year), strconv.Itoa(named)
		l.warn("year_differs", values{"year": taken, "titleYear": other})
		return
	}
}

// field returns what is known of a field; an empty one when no source gives it.
func (l *Listing) field(name string) *Field {
	for i := range l.Fields {
		if l.Fields[i].Name == name {
			return &l.Fields[i]
		}
	}
	return &Field{}
}

// registeredOn discards a date of manufacture of structured data when a label of the
// page calls the same date a registration: some sites fill productionDate with it.
func (l *Listing) registeredOn(car *vehicle.Car) {
	made, registered := l.field(claim.FieldManufacture), l.field(claim.FieldRegistration)
	if made.Rank == claim.RankSchema && registered.Rank < claim.RankSchema && sameDate(registered.Value, made.Value) {
		car.Manufacture = ""
		l.discard(claim.FieldManufacture, "the page calls this date a registration")
	}
}

// sameDate compares two dates by their year.
func sameDate(a, b string) bool {
	one, ok1 := claim.ParseDatedYear(a)
	two, ok2 := claim.ParseDatedYear(b)
	return ok1 && ok2 && one == two
}
