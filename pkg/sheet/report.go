// Package sheet has the report on a Japanese auction house's inspection sheet,
// the glossary and the words that explain it, and what a buyer should know and
// ask before paying. Package scan loads a sheet, transcribe has an AI copy it,
// interpret makes the report, and render writes it.
package sheet

import "slices"

// Report is what a sheet says, and what that means. A pointer that is nil (null
// in JSON) is a value that is not printed or could not be read; Unreadable says
// which of the two. What was not read off the sheet but concluded is named in
// Inferred. Fields ending in Raw hold what is printed.
//
// A Report holds no chassis number in full and no plate.
type Report struct {
	IsAuctionSheet bool        `json:"is_auction_sheet"`
	Readability    Readability `json:"readability"`
	House          House       `json:"house"`
	Lot            *string     `json:"lot"`
	AuctionDateRaw *string     `json:"auction_date_raw"`
	AuctionDate    *string     `json:"auction_date"` // ISO 8601: 2026-09-14

	Vehicle       Vehicle       `json:"vehicle"`
	Dates         Dates         `json:"dates"`
	Mileage       Mileage       `json:"mileage"`
	Grades        Grades        `json:"grades"`
	RepairHistory RepairHistory `json:"repair_history"`
	Equipment     Equipment     `json:"equipment"`

	SellerPoints   []Note `json:"seller_points"` // the seller's praise: claims
	SellerNotes    []Note `json:"seller_notes"`
	InspectorNotes []Note `json:"inspector_notes"` // findings of the house
	OfficeNotes    []Note `json:"office_notes"`    // corrections, which overrule the sheet

	BodyMap   []Mark    `json:"body_map"`
	TyresMM   Tyres     `json:"tyres_mm"`
	Glass     []Finding `json:"glass"`  // circled of the windscreen
	Inside    []Finding `json:"inside"` // circled of the interior
	Documents Documents `json:"documents"`

	RedFlags   []RedFlag    `json:"red_flags"`
	Questions  []Ask        `json:"questions_for_seller"`
	Confidence Confidence   `json:"confidence"`
	Inferred   []Inference  `json:"inferred"`
	Unreadable []Unreadable `json:"unreadable"`

	// DroppedTexts counts texts of the reading that were no part of a sheet:
	// links, telephone numbers, orders.
	DroppedTexts int `json:"dropped_texts"`
}

// InBoth is something in both languages.
type InBoth[T any] struct {
	EN T `json:"en"`
	SW T `json:"sw"`
}

// In returns it in a language.
func (b InBoth[T]) In(lang string) T {
	if lang == Swahili {
		return b.SW
	}
	return b.EN
}

// Text is a sentence or a name.
type Text = InBoth[string]

// Readability says how much of the sheet can be read.
type Readability struct {
	Overall         Extent   `json:"overall"`
	UnreadableAreas []string `json:"unreadable_areas"` // names of areas, see question.go
}

// Extent is how much can be read.
type Extent string

// The extents.
const (
	Full    Extent = "full"
	Partial Extent = "partial"
	None    Extent = "none"
)

// House is who held the auction.
type House struct {
	Name   *string `json:"name"`  // of a closed list, see houses
	Basis  *string `json:"basis"` // printed or inferred
	Corner *string `json:"corner"`
}

// Vehicle is the car as the sheet describes it.
type Vehicle struct {
	NameJP          *string `json:"name_jp"`
	Name            *string `json:"name"` // in Latin letters, where the sheet prints it so
	Trim            *string `json:"trim"`
	DoorsShape      *string `json:"doors_shape"`
	ModelCodeRaw    *string `json:"model_code_raw"` // DAA-ZVW30
	EmissionPrefix  *string `json:"emission_prefix"`
	ChassisCode     *string `json:"chassis_code"`
	ChassisNoMasked *string `json:"chassis_no_masked"` // ZVW30-12*****
	CC              *int    `json:"cc"`
	FuelPrinted     *string `json:"fuel_printed"` // petrol, diesel, hybrid, electric, lpg
	FuelDerived     *string `json:"fuel_derived"` // the same, from the emission prefix
	Drive           *string `json:"drive"`
	ShiftRaw        *string `json:"shift_raw"`
	Shift           *Text   `json:"shift"`
	AirCon          *string `json:"air_conditioning"`
	Seats           *int    `json:"seats"`
	Steering        *string `json:"steering"`       // left, right
	ImportChannel   *string `json:"import_channel"` // dealer, parallel
	ModelYear       *int    `json:"model_year"`     // of imported cars
	UseHistoryRaw   *string `json:"use_history_raw"`
	UseHistory      *string `json:"use_history"` // private, rental, hire, company, driving_school
	ColourJP        *string `json:"colour_jp"`
	Colour          *Text   `json:"colour"`
	OriginalColour  *Text   `json:"original_colour"` // before the change of colour
	ColourNo        *string `json:"colour_no"`
	ColourChanged   bool    `json:"colour_changed"`
	InteriorColour  *string `json:"interior_colour"`
	DimsCM          *string `json:"dims_cm"` // length × width × height
	Load            *int    `json:"load"`    // kg
}

// Dates are months in ISO form (2014-04), with what is printed beside them.
type Dates struct {
	FirstRegistrationRaw *string `json:"first_registration_raw"`
	FirstRegistration    *string `json:"first_registration"`
	ShakenUntilRaw       *string `json:"shaken_until_raw"`
	ShakenUntil          *string `json:"shaken_until"`
	NameChangeDeadline   *string `json:"name_change_deadline"` // as printed: it may lack the year
}

// Mileage is what the meter showed, and what the house could prove of it.
type Mileage struct {
	RawDigits *string `json:"raw_digits"`
	Value     *int    `json:"value"` // in Unit
	Unit      *string `json:"unit"`  // km or mile
	ValueKM   *int    `json:"value_km"`
	Flag      *Flag   `json:"flag"` // nil: could not be read
	FlagText  *string `json:"flag_text"`

	// ScaleInferred marks a number so short that it may be in thousands;
	// Thousands is the other reading, in Unit.
	ScaleInferred bool `json:"scale_inferred"`
	Thousands     *int `json:"value_if_thousands"`
}

// Flag is a mark of the trade beside the mileage.
type Flag string

// The flags.
const (
	NoFlag   Flag = "none"
	Replaced Flag = "replaced" // $: the meter was replaced, with a record
	Tampered Flag = "tampered" // *: records prove tampering
	Unknown  Flag = "unknown"  // #: the mileage is not known
)

// Grades are the marks as printed, three separate judgements.
type Grades struct {
	OverallRaw *string     `json:"overall_raw"`
	Group      *GradeGroup `json:"group"`
	Meaning    *Text       `json:"meaning"`
	Exterior   *string     `json:"exterior"` // A to E, perhaps with a tick
	Interior   *string     `json:"interior"`
}

// GradeGroup is what kind of mark the overall grade is.
type GradeGroup string

// The groups.
const (
	Graded      GradeGroup = "graded"
	RepairGrade GradeGroup = "repair_history" // R and its kin
	NotGraded   GradeGroup = "not_graded"     // sold as it is
)

// RepairHistory is what the sheet says of repairs of the frame.
type RepairHistory struct {
	Status   RepairStatus `json:"status"`
	Evidence []string     `json:"evidence"` // in Japanese, or the mark
	Parts    []Text       `json:"parts"`    // of the frame, named in the notes
}

// RepairStatus says whether the sheet reports a repair of the frame.
type RepairStatus string

// The states. NotStated is not No.
const (
	RepairYes       RepairStatus = "yes"
	RepairNo        RepairStatus = "no"
	RepairNotStated RepairStatus = "not_stated"
)

// Equipment is what the car has.
type Equipment struct {
	FactoryCircled []Finding `json:"factory_circled"`
	SellerClaims   []string  `json:"seller_claims"` // in Japanese; their translations are in the notes
}

// Finding is a printed word that is circled.
type Finding struct {
	JP       string   `json:"jp"`
	Meaning  *Text    `json:"meaning"` // nil: the word is not in our table
	Severity Severity `json:"severity"`
}

// Severity sorts findings: our proposal, not the house's.
type Severity string

// The severities.
const (
	High   Severity = "high"
	Medium Severity = "medium"
	Low    Severity = "low"
	Info   Severity = "info"
	// NotKnown is a code without a printed meaning, or a note that no table
	// knows.
	NotKnown Severity = "unknown"
)

// Note is one note that is written on the sheet.
type Note struct {
	JP          string      `json:"jp"`
	Translation Translation `json:"translation"`
	Terms       []Text      `json:"terms"` // what our table knows of a note that it does not know whole
	Kind        NoteKind    `json:"kind"`
	Severity    Severity    `json:"severity"`
	Area        Area        `json:"area"`
}

// NoteKind is what a note is about.
type NoteKind string

// The kinds.
const (
	Defect    NoteKind = "defect"
	Option    NoteKind = "option"
	InfoNote  NoteKind = "info"
	OtherNote NoteKind = "unknown"
)

// Area is the part of the car, and the section of the text.
type Area string

// The areas.
const (
	Outside    Area = "outside"
	Inside     Area = "inside"
	Mechanical Area = "mechanical" // and the underside
	Repair     Area = "repair"
	MeterArea  Area = "mileage"
	Equipped   Area = "equipment" // and documents
)

// Translation is a note.
type Translation = InBoth[Rendering]

// Rendering is a translation and where it is from.
type Rendering struct {
	Text   string `json:"text"` // empty: there is none
	Source Source `json:"source"`
}

// Source is where a translation is from.
type Source string

// The sources.
const (
	FromGlossary Source = "glossary" // our table, whole
	FromMachine  Source = "machine"  // the reading model, checked for language and shape only
	// InPart is our table for words in the note; the rest is not translated.
	InPart Source = "glossary_in_part"
	NoText Source = "none"
)

// Mark is a code on the car map.
type Mark struct {
	Panel      string   `json:"panel"`     // of a closed list, see panels
	Side       *string  `json:"side"`      // left, right; nil for a panel without sides, or an unknown side
	CodeRaw    string   `json:"code_raw"`  // as printed: A2, XX
	Meaning    *Text    `json:"meaning"`   // nil: not printed and not in our table
	SizeRaw    *int     `json:"size"`      // the number after the letters
	SizeMeans  *Text    `json:"size_text"` // about how large
	FromLegend bool     `json:"from_legend"`
	LegendJP   *string  `json:"legend_jp"` // what the legend prints for the letters
	Severity   Severity `json:"severity"`
}

// Tyres are treads in mm.
type Tyres struct {
	FrontLeft  *int `json:"front_left"`
	FrontRight *int `json:"front_right"`
	RearLeft   *int `json:"rear_left"`
	RearRight  *int `json:"rear_right"`
	Spare      *int `json:"spare"`
}

// Documents are the papers. A nil bool is neither circled nor struck out.
type Documents struct {
	ServiceBook *bool    `json:"service_book"`
	Manual      *bool    `json:"manual"`
	Warranty    *bool    `json:"warranty"`
	RecycleYen  *int     `json:"recycle_yen"`
	ItemsLater  []string `json:"items_later"` // in Japanese
}

// RedFlag is something to know before paying.
type RedFlag struct {
	Rule     string   `json:"rule"` // a stable word, see redflags.go
	QuoteJP  string   `json:"quote_jp"`
	Text     Text     `json:"text"`
	Severity Severity `json:"severity"`
}

// Ask is a question to the seller.
type Ask struct {
	About string `json:"about"` // a stable word: the rule of a red flag, or a block
	Text  Text   `json:"text"`
}

// Inference says of a value that it was concluded.
type Inference struct {
	Field  string `json:"field"` // dates.first_registration
	Reason string `json:"reason"`
}

// Unreadable says of a value why it is null although something is printed.
type Unreadable struct {
	Field    string   `json:"field"`
	Reason   Reason   `json:"reason"`
	Readings []string `json:"readings,omitempty"` // of looks that differ
}

// Reason says why a value could not be taken.
type Reason string

// The reasons.
const (
	Illegible      Reason = "illegible"       // printed, and not to be read
	NotAllowed     Reason = "not_a_value"     // what was read is no value of that field
	ReadingsDiffer Reason = "readings_differ" // two looks gave two values
	PrintedUnknown Reason = "printed_unknown" // the sheet itself says that it is not known
	Contradicts    Reason = "contradiction"   // with another value of the sheet
	EraMissing     Reason = "era_not_printed" // and the car does not tell which it is
)

// Level is how sure a block is.
type Level string

// The levels.
const (
	Sure     Level = "high"
	Doubtful Level = "medium"
	Weak     Level = "low"
	Nothing  Level = "none" // nothing of the block was read
)

// Confidence has a level for each block. It is of the reading, not of the car.
type Confidence struct {
	Overall       Level `json:"overall"`
	House         Level `json:"house"`
	Vehicle       Level `json:"vehicle"`
	Dates         Level `json:"dates"`
	Mileage       Level `json:"mileage"`
	Grades        Level `json:"grades"`
	RepairHistory Level `json:"repair_history"`
	Equipment     Level `json:"equipment"`
	Notes         Level `json:"notes"`
	BodyMap       Level `json:"body_map"`
	Documents     Level `json:"documents"`
}

// The languages of texts.
const (
	English = "en"
	Swahili = "sw"
)

// CountFindings counts the damage codes, the circled words and the noted defects
// by severity.
func (r *Report) CountFindings() map[Severity]int {
	count := map[Severity]int{}
	for _, mark := range r.BodyMap {
		count[mark.Severity]++
	}
	for _, finding := range slices.Concat(r.Glass, r.Inside) {
		count[finding.Severity]++
	}
	for _, note := range r.AllNotes() {
		if note.Kind == Defect {
			count[note.Severity]++
		}
	}
	return count
}

// AllNotes are the notes of all authors.
func (r *Report) AllNotes() (all []*Note) {
	for _, list := range [][]Note{r.OfficeNotes, r.InspectorNotes, r.SellerNotes, r.SellerPoints} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// Words of the closed lists that stand for a missing value.
const (
	NotPrinted  = "not_printed"
	NotReadable = "unreadable"
)

// Codes of the errors about what the images show. Both are permanent.
const (
	NotASheet       = "not_a_sheet"      // the images show something else
	SheetUnreadable = "sheet_unreadable" // a sheet, but blank, inconsistent or illegible
)
