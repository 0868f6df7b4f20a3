// Package interpret makes the report on an auction sheet of the AI's transcript.
// The transcript is not trusted: values outside the closed lists and shapes
// become unreadable, and meanings, dates and conversions are computed here.
package interpret

import (
	"slices"
	"strings"
	"time"

	"ushuru/pkg/chassis"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// Known is what the interpretation of a sheet uses besides the sheet.
type Known struct {
	Now time.Time // of the reading; the zero value is now

	// Years returns the first and the last year in which cars of a chassis code
	// were built. It returns 0 and 0 when they are not known, and 0 as the last
	// year of a car that is still built. A nil Years knows no code.
	Years func(chassis.Code) (from, to int)
}

// Transcript makes the report of a transcript. Values outside the closed lists
// and shapes become unreadable. Meanings, dates, conversions, masks, red flags
// and questions are computed here. An image that is not a sheet, a blank form and
// a fake give a report without any data of a car.
//
// The transcript may come from anywhere: the report is always safe to show.
func Transcript(raw transcribe.Transcript, known Known) *sheet.Report {
	if known.Now.IsZero() {
		known.Now = time.Now()
	}
	in := &interpreter{raw: &raw, known: known, report: empty()}
	in.classify()
	if in.report.IsAuctionSheet && in.report.Readability.Overall != sheet.None {
		in.read()
	}
	return in.report
}

// interpreter fills a report.
type interpreter struct {
	raw    *transcribe.Transcript
	known  Known
	report *sheet.Report
	car    chassis.Code      // of the model code
	legend map[string]string // letters to folded phrase
}

// empty returns a report without values. Its lists are empty in JSON, not null.
func empty() *sheet.Report {
	return &sheet.Report{
		Readability:    sheet.Readability{Overall: sheet.None, UnreadableAreas: []string{}},
		RepairHistory:  sheet.RepairHistory{Status: sheet.RepairNotStated, Evidence: []string{}, Parts: []sheet.Text{}},
		Equipment:      sheet.Equipment{FactoryCircled: []sheet.Finding{}, SellerClaims: []string{}},
		SellerPoints:   []sheet.Note{},
		SellerNotes:    []sheet.Note{},
		InspectorNotes: []sheet.Note{},
		OfficeNotes:    []sheet.Note{},
		BodyMap:        []sheet.Mark{},
		Glass:          []sheet.Finding{},
		Inside:         []sheet.Finding{},
		Documents:      sheet.Documents{ItemsLater: []string{}},
		Said:           []sheet.Said{},
		RedFlags:       []sheet.RedFlag{},
		Questions:      []sheet.Ask{},
		Inferred:       []sheet.Inference{},
		Unreadable:     []sheet.Unreadable{},
		Confidence:     noConfidence,
	}
}

// classify decides whether the image shows a sheet that can be read. A blank form
// and a fake are sheets of which nothing is read.
func (in *interpreter) classify() {
	in.report.IsAuctionSheet = in.raw.Classification.IsSheet()
	if in.report.IsAuctionSheet {
		in.report.Readability = in.raw.Classification.Legibility()
	}
}

// read fills in the report. The order matters: the dates need the chassis code,
// the mileage and the repairs need the notes, and the red flags need all of them.
func (in *interpreter) read() {
	in.house()
	in.vehicle()
	in.dates()
	in.notes()
	in.mileage()
	in.grades()
	in.repair()
	in.equipment()
	in.bodyMap()
	in.tyres()
	in.documents()
	in.said()
	in.report.RedFlags = sheet.FindRedFlags(in.report)
	in.report.Questions = sheet.QuestionsFor(in.report)
	in.report.Confidence = in.confidence()
}

// unreadable records why a value is null.
func (in *interpreter) unreadable(field string, reason sheet.Reason, readings ...string) {
	var clean []string
	for _, reading := range readings {
		if value, ok := printedValue(reading); ok && value != "" {
			clean = append(clean, value)
		}
	}
	in.report.Unreadable = append(in.report.Unreadable, sheet.Unreadable{Field: field, Reason: reason, Readings: clean})
}

func (in *interpreter) inferred(field, reason string) {
	in.report.Inferred = append(in.report.Inferred, sheet.Inference{Field: field, Reason: reason})
}

// printed cleans a printed value. It returns "" when the value is not printed or
// cannot be read, and records the second case.
func (in *interpreter) printed(field, value string) string {
	value, ok := printedValue(value)
	switch {
	case !ok:
		in.unreadable(field, sheet.NotAllowed)
		in.report.DroppedTexts++
		return ""
	case value == sheet.NotReadable:
		in.unreadable(field, sheet.Illegible)
		return ""
	case value == sheet.NotPrinted, saysUnknown(value):
		if value != sheet.NotPrinted {
			in.unreadable(field, sheet.PrintedUnknown)
		}
		return ""
	}
	return value
}

// text returns a printed value; nil when it is not printed or unreadable.
func (in *interpreter) text(field, value string) *string {
	if value = in.printed(field, value); value == "" {
		return nil
	}
	value = masked(value)
	return &value
}

// listed returns a value of a closed list; "" when it is not printed, unreadable
// or not on the list.
func (in *interpreter) listed(field, value string, list transcribe.List) string {
	switch {
	case value == sheet.NotPrinted, value == "":
		return ""
	case value == sheet.NotReadable:
		in.unreadable(field, sheet.Illegible)
		return ""
	case !list.Has(value):
		in.unreadable(field, sheet.NotAllowed)
		return ""
	}
	return value
}

// house reads the auction house, the lot and the day.
func (in *interpreter) house() {
	r, h := in.report, &in.raw.Reading.House
	if name := in.listed("house.name", h.Name, transcribe.Houses); name != "" && name != transcribe.OtherValue {
		basis := "inferred"
		if h.Basis == "printed" {
			basis = h.Basis
		} else {
			in.inferred("house.name", "from the form, not from a printed name")
		}
		r.House.Name, r.House.Basis = &name, &basis
	}
	r.House.Corner = in.text("house.corner", h.Corner)
	if lot := in.printed("lot", in.raw.Reading.Lot); lot != "" {
		if lotPattern.MatchString(lot) {
			r.Lot = &lot
		} else {
			in.unreadable("lot", sheet.NotAllowed)
		}
	}
	if day := in.printed("auction_date", in.raw.Reading.AuctionDate); day != "" {
		r.AuctionDateRaw, r.AuctionDate = &day, auctionDay(day)
	}
}

// saysUnknown reports whether the sheet itself prints that a value is not known.
func saysUnknown(printed string) bool {
	_, found := sheet.WordOf("unknown", printed)
	return found
}

// levels are in ascending order.
var levels = []sheet.Level{sheet.Nothing, sheet.Weak, sheet.Doubtful, sheet.Sure}

// noConfidence is the confidence of a report without values.
var noConfidence = sheet.Confidence{
	Overall: sheet.Nothing, House: sheet.Nothing, Vehicle: sheet.Nothing, Dates: sheet.Nothing, Mileage: sheet.Nothing,
	Grades: sheet.Nothing, RepairHistory: sheet.Nothing, Equipment: sheet.Nothing, Notes: sheet.Nothing,
	BodyMap: sheet.Nothing, Documents: sheet.Nothing,
}

// lower returns the lower of two levels.
func lower(a, b sheet.Level) sheet.Level {
	return levels[min(max(slices.Index(levels, a), 0), max(slices.Index(levels, b), 0))]
}

// confidence gives each block of the report a level. The model's own word on the
// clarity of a block can lower the level, but cannot raise it above the level
// that the checks leave.
func (in *interpreter) confidence() sheet.Confidence {
	r, clarity := in.report, in.raw.Reading.Clarity
	block := func(word string, prefixes ...string) sheet.Level {
		return lower(clarityLevel(word), in.checked(prefixes...))
	}
	c := sheet.Confidence{
		House: block(clarity["house"], "house", "lot", "auction_date"), Vehicle: block(clarity["vehicle"], "vehicle"),
		Dates: block(clarity["dates"], "dates"), Mileage: block(clarity["mileage"], "mileage"),
		Grades: block(clarity["grades"], "grades"), RepairHistory: block(clarity["repair_history"], "repair_history"),
		Equipment: block(clarity["equipment"], "equipment"), Notes: block(clarity["notes"], "notes"),
		BodyMap: block(clarity["map"], "body_map", "glass", "tyres_mm"), Documents: block(clarity["documents"], "documents"),
	}
	if r.Mileage.Value == nil {
		c.Mileage = sheet.Nothing
	} else if r.Mileage.ScaleInferred || r.Mileage.Flag == nil {
		c.Mileage = lower(c.Mileage, sheet.Doubtful)
	}
	if r.Grades.OverallRaw == nil {
		c.Grades = lower(c.Grades, sheet.Weak)
	}
	if in.raw.Second == nil { // there is only one reading
		for _, level := range []*sheet.Level{&c.Mileage, &c.Grades, &c.Dates} {
			*level = lower(*level, sheet.Doubtful)
		}
	}
	for area, level := range map[string][]*sheet.Level{
		"head": {&c.House}, "car_data": {&c.Vehicle}, "grades": {&c.Grades}, "mileage": {&c.Mileage}, "dates": {&c.Dates},
		"equipment": {&c.Equipment}, "seller_notes": {&c.Notes}, "inspector_notes": {&c.Notes, &c.RepairHistory},
		"office_notes": {&c.Notes}, "body_map": {&c.BodyMap}, "documents": {&c.Documents},
		"upper_half": {&c.Vehicle, &c.Grades}, "lower_half": {&c.Notes, &c.BodyMap, &c.RepairHistory},
		"left_half": {&c.Notes, &c.BodyMap}, "right_half": {&c.Notes, &c.BodyMap},
	} {
		if slices.Contains(r.Readability.UnreadableAreas, area) {
			for _, l := range level {
				*l = lower(*l, sheet.Weak)
			}
		}
	}
	c.Overall = sheet.Sure
	for _, level := range []sheet.Level{c.Vehicle, c.Dates, c.Mileage, c.Grades, c.Notes, c.BodyMap} {
		c.Overall = lower(c.Overall, surer(level, sheet.Weak))
	}
	if r.Readability.Overall != sheet.Full {
		c.Overall = lower(c.Overall, sheet.Doubtful)
	}
	return c
}

// surer returns the higher of two levels.
func surer(a, b sheet.Level) sheet.Level {
	if lower(a, b) == a {
		return b
	}
	return a
}

func clarityLevel(clarity string) sheet.Level {
	switch clarity {
	case "clear":
		return sheet.Sure
	case "doubtful":
		return sheet.Doubtful
	}
	return sheet.Weak
}

// checked returns the level that the checks leave to a block.
func (in *interpreter) checked(prefixes ...string) sheet.Level {
	level := sheet.Sure
	for _, u := range in.report.Unreadable {
		block, _, _ := strings.Cut(u.Field, ".")
		if !slices.Contains(prefixes, block) {
			continue
		}
		switch u.Reason {
		case sheet.ReadingsDiffer, sheet.Contradicts:
			level = lower(level, sheet.Weak)
		case sheet.Illegible, sheet.NotAllowed, sheet.EraMissing:
			level = lower(level, sheet.Doubtful)
		case sheet.PrintedUnknown:
		}
	}
	return level
}
