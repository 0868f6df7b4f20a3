package sheet

import (
	"slices"
	"time"

	"ushuru/pkg/chassis"
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
func Interpret(raw Raw, known Known) *Report {
	if known.Now.IsZero() {
		known.Now = time.Now()
	}
	in := &interpreter{raw: &raw, known: known, report: empty()}
	in.gate()
	if in.report.IsAuctionSheet && in.report.Readability.Overall != None {
		in.read()
	}
	return in.report
}

// interpreter fills a report.
type interpreter struct {
	raw    *Raw
	known  Known
	report *Report
	car    chassis.Code      // of the model code
	legend map[string]string // letters to folded phrase
}

// empty is a report of nothing. Its lists are empty in JSON, not null.
func empty() *Report {
	return &Report{
		Readability:    Readability{Overall: None, UnreadableAreas: []string{}},
		RepairHistory:  RepairHistory{Status: RepairNotStated, Evidence: []string{}, Parts: []Text{}},
		Equipment:      Equipment{FactoryCircled: []Finding{}, SellerClaims: []string{}},
		SellerPoints:   []Note{},
		SellerNotes:    []Note{},
		InspectorNotes: []Note{},
		OfficeNotes:    []Note{},
		BodyMap:        []Mark{},
		Glass:          []Finding{},
		Inside:         []Finding{},
		Documents:      Documents{ItemsLater: []string{}},
		RedFlags:       []RedFlag{},
		Questions:      []Ask{},
		Inferred:       []Inference{},
		Unreadable:     []Unreadable{},
		Confidence: Confidence{
			Nothing, Nothing, Nothing, Nothing, Nothing, Nothing, Nothing, Nothing, Nothing, Nothing, Nothing,
		},
	}
}

// gate decides whether the picture is a sheet that can be read. A blank form
// and a fake are sheets of which nothing is read.
func (in *interpreter) gate() {
	g, r := &in.raw.Gate, in.report
	r.IsAuctionSheet = g.IsAuctionSheet && g.Kind == kindSheet && quotedAnchors(g.Anchors) >= leastAnchors
	if !r.IsAuctionSheet {
		return
	}
	if extent := Extent(g.Readability); slices.Contains(extents, g.Readability) && g.FilledIn && g.MakesSense {
		r.Readability.Overall = extent
	}
	for _, area := range g.UnreadableAreas {
		known := slices.Contains(areas, area) || area == otherValue
		if known && !slices.Contains(r.Readability.UnreadableAreas, area) {
			r.Readability.UnreadableAreas = append(r.Readability.UnreadableAreas, area)
		}
	}
	if len(r.Readability.UnreadableAreas) > 0 && r.Readability.Overall == Full {
		r.Readability.Overall = Partial
	}
}

// leastAnchors is how many different labels must be quoted.
const leastAnchors = 2

// quotedAnchors counts the labels of forms among what was quoted.
func quotedAnchors(quoted []string) (n int) {
	for _, anchor := range anchors {
		if slices.ContainsFunc(quoted, func(q string) bool { return fold(q) == fold(anchor) }) {
			n++
		}
	}
	return n
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
	in.report.RedFlags = redFlags(in.report)
	in.report.Questions = questions(in.report)
	in.report.Confidence = in.confidence()
}

// unreadable remembers why a value is null.
func (in *interpreter) unreadable(field string, reason Reason, readings ...string) {
	var kept []string
	for _, reading := range readings {
		if clean, ok := printedValue(reading); ok && clean != "" {
			kept = append(kept, clean)
		}
	}
	in.report.Unreadable = append(in.report.Unreadable, Unreadable{field, reason, kept})
}

func (in *interpreter) inferred(field, reason string) {
	in.report.Inferred = append(in.report.Inferred, Inference{field, reason})
}

// printed cleans a value. It returns "" for one that is not there or cannot be
// read, and remembers the second.
func (in *interpreter) printed(field, value string) string {
	value, ok := printedValue(value)
	switch {
	case !ok:
		in.unreadable(field, NotAllowed)
		in.report.DroppedTexts++
		return ""
	case value == NotReadable:
		in.unreadable(field, Illegible)
		return ""
	case value == NotPrinted, saysUnknown(value):
		if value != NotPrinted {
			in.unreadable(field, PrintedUnknown)
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
func (in *interpreter) listed(field, value string, list []string) string {
	switch {
	case value == NotPrinted, value == "":
		return ""
	case value == NotReadable:
		in.unreadable(field, Illegible)
		return ""
	case !slices.Contains(list, value):
		in.unreadable(field, NotAllowed)
		return ""
	}
	return value
}

// house is who held the auction.
func (in *interpreter) house() {
	r, h := in.report, &in.raw.Sheet.House
	if name := in.listed("house.name", h.Name, houses); name != "" && name != otherValue {
		basis := "inferred"
		if h.Basis == "printed" {
			basis = h.Basis
		} else {
			in.inferred("house.name", "from the form, not from a printed name")
		}
		r.House.Name, r.House.Basis = &name, &basis
	}
	r.House.Corner = in.text("house.corner", h.Corner)
	if lot := in.printed("lot", in.raw.Sheet.Lot); lot != "" {
		if lotPattern.MatchString(lot) {
			r.Lot = &lot
		} else {
			in.unreadable("lot", NotAllowed)
		}
	}
	if day := in.printed("auction_date", in.raw.Sheet.AuctionDate); day != "" {
		r.AuctionDateRaw, r.AuctionDate = &day, auctionDay(day)
	}
}
