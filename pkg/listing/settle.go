package listing

import (
	"fmt"
	"strconv"

	"ushuru/pkg/chassis"
	"ushuru/pkg/vehicle"
)

// Field explains one field of a car.
type Field struct {
	Name   string  `json:"name"`
	Value  string  `json:"value"` // the text that was taken, "" when none could be; of images their number
	Source string  `json:"source,omitempty"`
	Rank   Rank    `json:"rank,omitempty"`
	Others []Other `json:"others,omitempty"`
}

// Other is a value that was not taken.
type Other struct {
	Value  string `json:"value"`
	Source string `json:"source"`
	Rank   Rank   `json:"rank"`
	Reason string `json:"reason"` // agrees, disagrees, or why it was rejected
}

// settle decides between the claims, field by field: the best-ranked value that
// can be read wins, and the others are kept beside it. The claims stand in the
// order of their rank, because the sources are read in it.
func settle(c *claims, doc *document) *Listing {
	listing := &Listing{Notes: c.notes}
	car := &listing.Car
	byField := map[string][]claim{}
	for _, claimed := range c.list {
		byField[claimed.field] = append(byField[claimed.field], claimed)
	}
	for _, r := range readers {
		claimed := byField[r.field]
		if len(claimed) == 0 {
			continue
		}
		if r.field == fieldPrice {
			rejectUnsure(claimed)
		}
		field := listing.decide(r, claimed)
		listing.Fields = append(listing.Fields, field)
	}
	listing.weigh()
	listing.setYear()
	listing.codeFromFrame()
	if squash(car.Version) == squash(car.Model) {
		car.Version = "" // some sites fill the grade with the model
	}
	listing.setPictures(c, doc)
	return listing
}

// setPictures takes the links of the best source that had any.
func (l *Listing) setPictures(c *claims, doc *document) {
	car := &l.Car
	car.Images = make([]string, 0, len(c.images))
	for _, link := range c.images {
		if image := doc.absolute(link); image != "" {
			car.Images = append(car.Images, image)
		}
	}
	if len(car.Images) > 0 {
		l.Fields = append(l.Fields, c.imaged.taken("images", strconv.Itoa(len(car.Images))))
	}
	if c.sheet.value != "" {
		car.ConditionReportURL = &c.sheet.value
		l.Fields = append(l.Fields, c.sheet.taken("conditionReportUrl", c.sheet.value))
	}
}

// taken explains a claim that nothing competes with.
func (c claim) taken(name, value string) Field {
	return Field{Name: name, Value: value, Source: c.source, Rank: c.rank}
}

func (l *Listing) decide(r reader, claimed []claim) Field {
	field := Field{Name: r.field}
	taken := ""
	for _, next := range claimed {
		value, ok := r.read(next.value)
		other := Other{Value: next.value, Source: next.source, Rank: next.rank}
		switch {
		case next.rejected != "":
			other.Reason = next.rejected
		case !ok:
			other.Reason = "not readable"
		case field.Source == "":
			taken, field.Value, field.Source, field.Rank = value, next.value, next.source, next.rank
			r.set(&l.Car, value)
			continue
		case same(r.field, taken, value):
			other.Reason = "agrees"
		default:
			other.Reason = "disagrees"
			if r.noted {
				l.notef("%s: %s says %q, %s says %q", r.field, field.Source, field.Value, next.source, next.value)
			}
		}
		field.Others = append(field.Others, other)
	}
	return field
}

// same compares two values of a field; a chassis code agrees with itself
// whether or not it carries its emission prefix.
func same(field, a, b string) bool {
	if field == fieldCode {
		one, _ := chassis.Parse(a)
		two, _ := chassis.Parse(b)
		return one.Code == two.Code
	}
	return squash(a) == squash(b)
}

// maxNotes bounds what a page can make us say.
const maxNotes = 20

func (l *Listing) notef(format string, args ...any) {
	if len(l.Notes) < maxNotes {
		l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
	}
}

// setYear takes the year of manufacture, which the authority wants, else that
// of registration, else the model year, and keeps which one it was.
func (l *Listing) setYear() {
	modelYear := ""
	for _, f := range l.Fields {
		if f.Name == fieldModelYear {
			modelYear = f.Value
		}
	}
	for _, basis := range []struct{ name, value string }{
		{"manufacture", l.Car.Manufacture}, {"registration", l.Car.Registration}, {"model", modelYear},
	} {
		if y, ok := readYear(basis.value); ok {
			l.Car.Year, l.Car.YearBasis = y, basis.name
			return
		}
	}
}

// codeFromFrame falls back to the code of the frame number, which may lack the
// body letter.
func (l *Listing) codeFromFrame() {
	car := &l.Car
	if car.RawModelCode != "" {
		return
	}
	if parsed, ok := chassis.FromFrame(car.FrameNumber); ok {
		car.ModelCode, car.RawModelCode = parsed.Code, car.FrameNumber
		l.notef("The chassis code was read from the frame number and may lack its last letter.")
	}
}

// complete reports whether there is enough to estimate from.
func complete(car *vehicle.Car) bool {
	return car.Make != "" && car.Model != "" && car.Year != 0 && (car.ModelCode != "" || car.EngineCC != 0)
}
