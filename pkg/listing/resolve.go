package listing

import (
	"strconv"

	"ushuru/pkg/chassis"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Field explains one field of a car.
type Field struct {
	Name   string     `json:"name"`
	Value  string     `json:"value"` // the text that was taken, "" when none was; for images, their number
	Source string     `json:"source,omitempty"`
	Rank   claim.Rank `json:"rank,omitempty"`
	Others []Other    `json:"others,omitempty"`
}

// Other is a value that was not taken.
type Other struct {
	Value  string       `json:"value"`
	Source string       `json:"source"`
	Rank   claim.Rank   `json:"rank"`
	Reason string       `json:"reason"` // agrees, disagrees, or why it was rejected
	Code   string       `json:"code"`   // of Reason
	Text   vehicle.Text `json:"text"`   // Reason in both languages
}

// because returns the value with the reason of a code.
func (o Other) because(code string) Other {
	o.Code, o.Text = code, message.Say("explain/"+code, nil)
	o.Reason = o.Text.EN
	return o
}

// resolve decides between the claims, field by field: it takes the first claim whose
// text can be read, and keeps the others beside it. The sources are read in the order
// of their rank, so the first claim of a field is the best.
func resolve(c *claim.List, doc *page.Document) *Listing {
	listing := &Listing{Notes: c.Notes}
	car := &listing.Car
	byField := map[string][]claim.Claim{}
	for _, claimed := range c.All {
		byField[claimed.Field] = append(byField[claimed.Field], claimed)
	}
	for _, r := range readers {
		claimed := byField[r.field]
		if len(claimed) == 0 {
			continue
		}
		if r.field == claim.FieldPrice {
			rejectConflictingPrices(claimed)
		}
		field := listing.resolveField(r, claimed)
		listing.Fields = append(listing.Fields, field)
	}
	listing.crossCheck()
	listing.setYear(doc)
	listing.codeFromFrame()
	if claim.Squash(car.Version) == claim.Squash(car.Model) {
		car.Version = "" // some sites fill the grade with the model
	}
	listing.setPictures(c, doc)
	return listing
}

// setPictures takes the links of the images and of the inspection sheet. The list of
// claims has those of the best source that had any.
func (l *Listing) setPictures(c *claim.List, doc *page.Document) {
	car := &l.Car
	car.Images = make([]string, 0, len(c.Images))
	for _, link := range c.Images {
		if image := doc.Absolute(link); image != "" && len(image) <= claim.MaxImageLink {
			car.Images = append(car.Images, image)
		}
	}
	if len(car.Images) > 0 {
		l.Fields = append(l.Fields, explained(c.ImageSource, "images", strconv.Itoa(len(car.Images))))
	}
	if c.Sheet.Value != "" {
		car.ConditionReportURL = &c.Sheet.Value
		l.Fields = append(l.Fields, explained(c.Sheet, "conditionReportUrl", c.Sheet.Value))
	}
}

// explained returns the explanation of a value that has no other claims.
func explained(c claim.Claim, name, value string) Field {
	return Field{Name: name, Value: value, Source: c.Source, Rank: c.Rank}
}

// resolveField writes the first claimed value that can be read into the car. It
// returns the explanation, in which the other claims have the reason why they were
// not taken.
func (l *Listing) resolveField(r reader, claimed []claim.Claim) Field {
	field := Field{Name: r.field}
	taken := ""
	for _, next := range claimed {
		value, ok := r.read(next.Value)
		other := Other{Value: next.Value, Source: next.Source, Rank: next.Rank}
		switch {
		case next.Rejected != "":
			other = other.because(next.Rejected)
		case !ok && claim.IsUnclear(r.field, next.Value):
			other = other.because(reasonUnclear)
			l.unclear(r.field, next.Value)
		case !ok:
			other = other.because("not_readable")
		case field.Source == "":
			taken, field.Value, field.Source, field.Rank = value, next.Value, next.Source, next.Rank
			r.set(&l.Car, value)
			continue
		case claim.Equal(r.field, taken, value):
			other = other.because("agrees")
		default:
			other = other.because("disagrees")
			l.disagree(field, other)
			if r.noted {
				l.note("sources_differ", valuesOf(field, other))
			}
		}
		field.Others = append(field.Others, other)
	}
	return field
}

// maxNotes is the maximum number of notes: a page that contradicts itself everywhere
// must not make the answer long.
const maxNotes = 20

// note adds a note, a doubt about the listing in a sentence.
func (l *Listing) note(code string, named values) {
	if len(l.Notes) < maxNotes {
		l.Notes = append(l.Notes, message.SayCoded("note/"+code, named))
	}
}

// NotesInEnglish returns the notes as sentences.
func (l *Listing) NotesInEnglish() []string {
	notes := make([]string, len(l.Notes))
	for i, note := range l.Notes {
		notes[i] = note.EN
	}
	return notes
}

// codeFromFrame takes the chassis code from the frame number when the page gives no
// other. It may lack its last letter, which is for the body.
func (l *Listing) codeFromFrame() {
	car := &l.Car
	if car.RawModelCode != "" {
		return
	}
	if parsed, ok := chassis.FromFrame(car.FrameNumber); ok {
		car.ModelCode, car.RawModelCode = parsed.Code, car.FrameNumber
		l.note("code_from_frame", nil)
		l.warn("code_from_frame", values{"modelCode": parsed.Code})
	}
}

// complete reports whether a car has the fields that an estimate needs.
func complete(car *vehicle.Car) bool {
	return car.Make != "" && car.Model != "" && car.Year != 0 && (car.ModelCode != "" || car.EngineCC != 0)
}
