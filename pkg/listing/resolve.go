package listing

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/chassis"
	"ushuru/pkg/condition"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
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

// crossCheck compares the resolved values with each other and discards those that
// are impossible.
func (l *Listing) crossCheck() {
	car := &l.Car
	if total, fob := car.CFPriceUSD, car.FOBPriceUSD; total != nil && fob != nil && !total.Decimal().GreaterThan(fob.Decimal()) {
		car.CFPriceUSD = nil
		l.discard(claim.FieldCF, "total_too_low")
	}
	l.registeredOn(car)
	made, knownMade := claim.ParseDatedYear(car.Manufacture)
	registered, knownRegistered := claim.ParseDatedYear(car.Registration)
	if knownMade && knownRegistered && made > registered {
		car.Manufacture = ""
		l.discard(claim.FieldManufacture, "after_registration")
		l.note("made_after_registration", nil)
		l.warn("manufacture_after_registration",
			values{"manufacture": strconv.Itoa(made), "registration": strconv.Itoa(registered)})
	}
	frame, framed := chassis.FromFrame(car.FrameNumber)
	related := strings.HasPrefix(car.ModelCode, frame.Code) || strings.HasPrefix(frame.Code, car.ModelCode)
	if framed && car.ModelCode != "" && !related {
		named := values{"modelCode": car.ModelCode, "frameNumber": car.FrameNumber}
		l.note("code_and_frame_differ", named)
		l.warn("code_and_frame_differ", named)
	}
}

// discard removes the value of a field and keeps it in Others, with the reason.
func (l *Listing) discard(name, why string) {
	if f := l.field(name); f.Source != "" {
		f.Others = append(f.Others, Other{Value: f.Value, Source: f.Source, Rank: f.Rank}.because(why))
		f.Value, f.Source, f.Rank = "", "", 0
	}
}

// reasonSeveral is the reason not to take any of several prices.
const reasonSeveral = "no_price_chosen"

// rejectConflictingPrices rejects prices of labels that differ, unless a source other than
// the labels decides between them.
func rejectConflictingPrices(claimed []claim.Claim) {
	seen := map[string]bool{}
	for _, c := range claimed {
		if p, ok := amount(c.Value); ok && c.Source == "labels" && c.Rejected == "" {
			seen[p] = true
		}
	}
	if len(seen) < 2 {
		return
	}
	claimedPrice := ""
	for _, c := range claimed {
		if p, ok := amount(c.Value); ok && c.Source != "labels" && c.Rejected == "" && claimedPrice == "" {
			claimedPrice = p
		}
	}
	for i, c := range claimed {
		if p, _ := amount(c.Value); c.Source == "labels" && p != claimedPrice && c.Rejected == "" {
			claimed[i].Rejected = reasonSeveral
		}
	}
}

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

// maxStatements bounds what is kept of a page.
const maxStatements = 6

// setCondition keeps what the listing itself says of faults: the values of labels that
// speak of the condition, with their labels.
func (l *Listing) setCondition(doc *page.Document) {
	for _, pair := range doc.Pairs {
		isAbout := pair.Field == claim.FieldCondition || pair.Field == claim.FieldMileage
		if !isAbout || pair.Struck || len(pair.Value) > 300 {
			continue
		}
		value := strings.TrimSpace(pair.Value)
		if value == "" || value == "-" {
			continue
		}
		l.say(condition.ReadRow(pair.Label, value), pair.Label+": "+value)
	}
}

// say keeps the findings of a row from caution on.
func (l *Listing) say(said condition.Judgement, quote string) {
	for _, f := range said.Findings {
		if f.Severity.Rank() < condition.Caution.Rank() || len(l.Car.Condition) >= maxStatements {
			continue
		}
		statement := vehicle.Statement{Category: string(f.Category), Level: string(f.Severity), Quote: clip(quote)}
		for _, other := range l.Car.Condition {
			if other.Category == statement.Category && other.Level == statement.Level {
				return
			}
		}
		l.Car.Condition = append(l.Car.Condition, statement)
	}
}

// clip returns a quote as one short line.
func clip(quote string) string {
	const most = 80
	runes := []rune(strings.Join(strings.Fields(quote), " "))
	return string(runes[:min(len(runes), most)])
}
