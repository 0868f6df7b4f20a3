// Package interpret makes the report on an auction sheet of the AI's transcript.
// The transcript is not trusted: values outside the closed lists and shapes
// become unreadable, and meanings, dates and conversions are computed here.
package interpret

import (
	"time"

	"ushuru/pkg/chassis"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// Known is what the interpretation of a sheet stands on besides the sheet.
type Known struct {
	Now time.Time // of the reading; the zero value is now

	// Years returns when cars of a code were built; 0 and 0 when that is not
	// known, 0 for the second alone when they still are. Nil knows none.
	Years func(chassis.Code) (from, to int)
}

// Interpret makes a report of what a model says that it saw. What is not of the
// closed lists and shapes becomes unreadable; meanings, dates, conversions,
// masks, red flags and questions are computed here. A picture that is no sheet,
// a blank form and a fake give a report without any data of a car.
//
// It can be given anything: a Raw from JSON of strangers gives a report that is
// safe to show.
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

// empty is a report of nothing. Its lists are empty in JSON, not null.
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
		RedFlags:       []sheet.RedFlag{},
		Questions:      []sheet.Ask{},
		Inferred:       []sheet.Inference{},
		Unreadable:     []sheet.Unreadable{},
		Confidence: sheet.Confidence{
			Overall: sheet.Nothing, House: sheet.Nothing, Vehicle: sheet.Nothing, Dates: sheet.Nothing, Mileage: sheet.Nothing, Grades: sheet.Nothing, RepairHistory: sheet.Nothing, Equipment: sheet.Nothing, Notes: sheet.Nothing, BodyMap: sheet.Nothing, Documents: sheet.Nothing,
		},
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

// read fills in everything. The order matters: the code tells the era, notes
// tell of the mileage and of repairs, and the red flags look at all of it.
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
	in.report.RedFlags = sheet.FindRedFlags(in.report)
	in.report.Questions = sheet.QuestionsFor(in.report)
	in.report.Confidence = in.confidence()
}

// unreadable remembers why a value is null.
func (in *interpreter) unreadable(field string, reason sheet.Reason, readings ...string) {
	var kept []string
	for _, reading := range readings {
		if clean, ok := printedValue(reading); ok && clean != "" {
			kept = append(kept, clean)
		}
	}
	in.report.Unreadable = append(in.report.Unreadable, sheet.Unreadable{Field: field, Reason: reason, Readings: kept})
}

func (in *interpreter) inferred(field, reason string) {
	in.report.Inferred = append(in.report.Inferred, sheet.Inference{Field: field, Reason: reason})
}

// printed cleans a value. It returns "" for one that is not there or cannot be
// read, and remembers the second.
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

// text is a printed value as it is; nil when it is not there.
func (in *interpreter) text(field, value string) *string {
	if value = in.printed(field, value); value == "" {
		return nil
	}
	value = masked(value)
	return &value
}

// listed is a value of a closed list.
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

// house is who held the auction.
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

// saysUnknown says whether the sheet itself prints that a value is not known.
func saysUnknown(printed string) bool {
	_, found := sheet.WordOf("unknown", printed)
	return found
}
