// Package sheet has the report on an auction sheet and the words that explain it: the
// glossary, and what a buyer should know and ask before paying. Package scan loads a sheet, transcribe has an AI copy it,
// interpret makes the report, and render writes it.
package sheet

import (
	"encoding/json"
	"fmt"
	"slices"

	"ushuru/pkg/condition"
)

// Report is what a sheet says and what that means. A nil pointer (null in JSON) is
// a value that is not printed or could not be read; Unreadable says which. Inferred
// names the values that were not read on the sheet but inferred. Fields ending in
// Raw hold the printed text.
//
// A Report contains no complete chassis number and no number plate.
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

	SellerPoints   []Note `json:"seller_points"` // claims of the seller
	SellerNotes    []Note `json:"seller_notes"`
	InspectorNotes []Note `json:"inspector_notes"` // findings of the house
	OfficeNotes    []Note `json:"office_notes"`    // corrections of the sheet

	BodyMap   []Mark    `json:"body_map"`
	TyresMM   Tyres     `json:"tyres_mm"`
	Glass     []Finding `json:"glass"`  // circled of the windscreen
	Inside    []Finding `json:"inside"` // circled of the interior
	Documents Documents `json:"documents"`

	Said       []Said       `json:"said"` // the reader's answers on eight grave matters
	RedFlags   []RedFlag    `json:"red_flags"`
	Questions  []Ask        `json:"questions_for_seller"`
	Confidence Confidence   `json:"confidence"`
	Inferred   []Inference  `json:"inferred"`
	Unreadable []Unreadable `json:"unreadable"`

	// DroppedTexts counts texts that were left out because they contain links,
	// telephone numbers or instructions.
	DroppedTexts int `json:"dropped_texts"`
}

// InBoth is a value in both languages.
type InBoth[T any] struct {
	EN T `json:"en"`
	SW T `json:"sw"`
}

// In returns the value in a language; in English for an unknown language.
func (b InBoth[T]) In(lang string) T {
	if lang == Swahili {
		return b.SW
	}
	return b.EN
}

// Text is a sentence or a name.
type Text = InBoth[string]

// Readability is how much of the sheet can be read.
type Readability struct {
	Overall         Extent   `json:"overall"`
	UnreadableAreas []string `json:"unreadable_areas"` // see transcribe.List
}

// Extent is how much can be read.
type Extent string

// The extents.
const (
	Full    Extent = "full"
	Partial Extent = "partial"
	None    Extent = "none"
)

// House is the auction house.
type House struct {
	Name   *string `json:"name"`  // of a closed list
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

// Dates has months in ISO format (2014-04) and the printed texts.
type Dates struct {
	FirstRegistrationRaw *string `json:"first_registration_raw"`
	FirstRegistration    *string `json:"first_registration"`
	ShakenUntilRaw       *string `json:"shaken_until_raw"`
	ShakenUntil          *string `json:"shaken_until"`
	NameChangeDeadline   *string `json:"name_change_deadline"` // as printed: it may lack the year
}

// Mileage is what the meter showed, and what the auction house could prove.
type Mileage struct {
	RawDigits *string `json:"raw_digits"`
	Value     *int    `json:"value"` // in Unit
	Unit      *string `json:"unit"`  // km or mile
	ValueKM   *int    `json:"value_km"`
	Flag      *Flag   `json:"flag"` // nil means unreadable
	FlagText  *string `json:"flag_text"`

	// ScaleInferred marks a number so short that it may be in thousands.
	// Thousands is then the other value, in Unit.
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

// Grades are the three grades as printed. Each is a judgement of its own.
type Grades struct {
	OverallRaw *string     `json:"overall_raw"`
	Group      *GradeGroup `json:"group"`
	Meaning    *Text       `json:"meaning"`
	Exterior   *string     `json:"exterior"` // A to E, perhaps with a tick
	Interior   *string     `json:"interior"`
}

// GradeGroup is the kind of the overall grade.
type GradeGroup = condition.GradeGroup

// The groups that other packages ask for.
const (
	Graded        = condition.Graded
	RepairGrade   = condition.RepairGrade   // R, RA and others
	DisasterGrade = condition.DisasterGrade // 1
	WreckGrade    = condition.WreckGrade    // ***, 無効 and others
)

// RepairHistory is what the sheet says about repairs of the frame.
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

// Severity ranks findings. It is our proposal, not that of the auction house.
type Severity string

// The severities.
const (
	High   Severity = "high"
	Medium Severity = "medium"
	Low    Severity = "low"
	Info   Severity = "info"
	// NotKnown is the severity of a code or a note that is in no table.
	NotKnown Severity = "unknown"
)

// severities are in ascending order.
var severities = []Severity{NotKnown, Info, Low, Medium, High}

// Rank orders severities: a higher rank is graver. An invalid Severity ranks as
// NotKnown.
func (s Severity) Rank() int { return max(slices.Index(severities, s), 0) }

// Next returns the severity one step graver; High stays High.
func (s Severity) Next() Severity { return severities[min(s.Rank()+1, len(severities)-1)] }

// Graver returns the graver of two severities.
func Graver(a, b Severity) Severity { return severities[max(a.Rank(), b.Rank())] }

// Note is one remark on the sheet.
type Note struct {
	JP          string      `json:"jp"`
	Translation Translation `json:"translation"`
	Terms       []Text      `json:"terms"` // the known phrases of a note without a complete translation
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
	infoNote  NoteKind = "info"
	OtherNote NoteKind = "unknown"
)

// Area is the part of the car, and the section of the text.
type Area string

// The areas that the code names: the tables also have outside, inside and mileage.
const (
	Mechanical Area = "mechanical" // and the underside
	Repair     Area = "repair"
	Equipped   Area = "equipment" // and documents
)

// Translation is a note in both languages.
type Translation = InBoth[Rendering]

// Rendering is a translation and its source.
type Rendering struct {
	Text   string `json:"text"` // empty when there is none
	Source Source `json:"source"`
}

// Source is the source of a translation.
type Source string

// The sources.
const (
	FromGlossary Source = "glossary" // the whole note is in our glossary
	FromMachine  Source = "machine"  // the AI; only language and shape were checked
	// InPart means that the glossary has some words of the note; the rest is not
	// translated.
	InPart Source = "glossary_in_part"
	NoText Source = "none"
)

// Mark is a code on the car map.
type Mark struct {
	Panel      string   `json:"panel"`     // of a closed list
	Side       *string  `json:"side"`      // left, right; nil when the panel has no sides, or the side is unreadable
	CodeRaw    string   `json:"code_raw"`  // as printed: A2, XX
	Meaning    *Text    `json:"meaning"`   // nil when it is neither printed nor in our table
	SizeRaw    *int     `json:"size"`      // the number after the letters
	SizeMeans  *Text    `json:"size_text"` // the approximate size
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

// RedFlag is something that the buyer should know before paying, or that is not
// certain.
type RedFlag struct {
	Rule     string             `json:"rule"` // a stable code, see FlagRepairGrade and following
	Category condition.Category `json:"category"`
	Level    condition.Severity `json:"level"` // disqualify, grave, doubt or caution
	QuoteJP  string             `json:"quote_jp"`
	Panel    string             `json:"panel,omitempty"` // of a mark on the drawing
	Text     Text               `json:"text"`
	Severity Severity           `json:"severity"`
}

// Ask is a question to the seller.
type Ask struct {
	About string `json:"about"` // a stable code: the rule of a red flag, or AskRepair and following
	Text  Text   `json:"text"`
}

// Inference names a value that was inferred.
type Inference struct {
	Field  string `json:"field"` // dates.first_registration
	Reason string `json:"reason"`
}

// Unreadable says why a value is null although something is printed.
type Unreadable struct {
	Field    string   `json:"field"`
	Reason   Reason   `json:"reason"`
	Readings []string `json:"readings,omitempty"` // the two readings that differ
}

// Reason is why a printed value is not used.
type Reason string

// The reasons.
const (
	Illegible      Reason = "illegible"       // printed but illegible
	NotAllowed     Reason = "not_a_value"     // the text read there is not a valid value
	ReadingsDiffer Reason = "readings_differ" // two readings differ
	PrintedUnknown Reason = "printed_unknown" // the sheet itself says that the value is not known
	Contradicts    Reason = "contradiction"   // it contradicts another value of the sheet
	EraMissing     Reason = "era_not_printed" // and the chassis code does not determine it
)

// Level is the confidence in a block.
type Level string

// The levels.
const (
	Sure     Level = "high"
	Doubtful Level = "medium"
	Weak     Level = "low"
	Nothing  Level = "none" // nothing of the block was read
)

// Confidence has a level for each block: of the reading, not of the car.
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

// AllNotes returns the notes of all authors.
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

// Reading is the result of a job that reads a sheet: the report as JSON. It is
// stored once for both languages.
type Reading struct {
	Report json.RawMessage `json:"report"`
}

// ParseReading decodes the result of a job that reads a sheet. It returns the
// reading, and the report in it.
func ParseReading(result []byte) (Reading, *Report, error) {
	var (
		reading Reading
		report  Report
	)
	if err := json.Unmarshal(result, &reading); err != nil {
		return reading, nil, fmt.Errorf("sheet: reading: %w", err)
	}
	if err := json.Unmarshal(reading.Report, &report); err != nil {
		return reading, nil, fmt.Errorf("sheet: report of a reading: %w", err)
	}
	return reading, &report, nil
}
