package transcribe

import (
	"slices"

	"ushuru/pkg/sheet"
)

// OtherValue stands in some lists for a value that is not on the list.
const OtherValue = "other"

// kindSheet is the kind of an image that shows an auction sheet.
const kindSheet = "auction_sheet"

// List names a closed list: the only values that the model may give for a
// field, and the only ones that are accepted.
type List string

// The lists that the interpretation checks values against. A list ends with the
// value that replaces a value that is not on it.
const (
	Houses        List = "houses"       // auction houses whose forms or names are known
	OverallGrades List = "overallMarks" // marks beside 評価点
	Letters       List = "letters"      // marks of interior and exterior; of some the tick is part
	Units         List = "units"
	Repairs       List = "repairs"
	Steerings     List = "steerings"
	Channels      List = "channels"
	YesNo         List = "yesNo"
	Meters        List = "meters"      // checklist of the meter history
	GlassWords    List = "glassWords"  // printed checklist of the windscreen
	InsideWords   List = "insideWords" // printed checklist of the interior
	NoteKinds     List = "noteKinds"
	NoteAreas     List = "noteAreas"
	Panels        List = "panels" // parts of the unfolded car

	kinds     List = "kinds"
	extents   List = "extents"
	areas     List = "areas"
	bases     List = "bases"
	flags     List = "flags"
	authors   List = "authors"
	sides     List = "sides"
	clarities List = "clarities"
)

// Has reports whether a value is on the list.
func (l List) Has(value string) bool { return slices.Contains(values[l], value) }

// values are those of each list.
var values = map[List][]string{
	kinds:   {kindSheet, "photo", "other_document", "other_picture"},
	extents: {string(sheet.Full), string(sheet.Partial), string(sheet.None)},
	areas: {
		"head", "car_data", "grades", "mileage", "dates", "equipment", "seller_notes", "inspector_notes", "office_notes",
		"body_map", "documents", "upper_half", "lower_half", "left_half", "right_half", OtherValue,
	},
	Houses: {
		"USS", "TAA", "CAA", "MIRIVE", "BAYAUC", "IAA Osaka", "HERO", "ARAI", "LAA", "JU", "HAA", "JAA", "NAA", "AUCNET",
		"ASNET", "ZIP", "BCN", "Honda", "ORIX", "ZERO", "LUM", OtherValue, sheet.NotPrinted, sheet.NotReadable,
	},
	bases: {"printed", "inferred", sheet.NotPrinted},
	OverallGrades: {
		"S", "9", "8", "7", "6", "5", "4.5", "4", "3.5", "3", "2", "1", "R", "R1", "R2", "RA", "RB", "RC", "A", "0",
		"***", "**", "*", "-", "X", "無効", sheet.NotPrinted, sheet.NotReadable,
	},
	Letters:     {"A", "B", "C", "D", "E", "A'", "B'", "C'", "D'", "E'", sheet.NotPrinted, sheet.NotReadable},
	Units:       {"km", "mile", sheet.NotPrinted, sheet.NotReadable},
	flags:       {sheet.NotPrinted, "$", "*", "#", sheet.NotReadable},
	Repairs:     {"有", "無", "小", "中", "大", sheet.NotPrinted, sheet.NotReadable},
	Steerings:   {"右", "左", sheet.NotPrinted, sheet.NotReadable},
	Channels:    {"ディーラー", "並行", sheet.NotPrinted, sheet.NotReadable},
	YesNo:       {"有", "無", sheet.NotPrinted, sheet.NotReadable},
	Meters:      {"交換車", "改ざん車", "不明車", sheet.NotPrinted, sheet.NotReadable},
	GlassWords:  {"キズ", "飛石", "ヒビ割", "リペア跡", "X要", sheet.NotReadable},
	InsideWords: {"コゲ", "穴", "汚れ", "破れ", sheet.NotReadable},
	// An author that is not on the list counts as a seller, whose notes have the
	// least weight.
	authors:   {SellerPoints, InspectorNotes, OfficeNotes, SellerNotes},
	NoteKinds: {string(sheet.Defect), string(sheet.Option), string(sheet.InfoNote)},
	NoteAreas: {
		string(sheet.Outside), string(sheet.Inside), string(sheet.Mechanical),
		string(sheet.Repair), string(sheet.MeterArea), string(sheet.Equipped),
	},
	Panels: {
		"front_bumper", "grille", "headlamp", "bonnet", "windscreen", "roof", "rear_window", "boot", "rear_bumper", "rear_lamp",
		"front_fender", "front_door", "rear_door", "rear_fender", "sill", "pillar", "door_mirror", "wheel", "floor",
		"core_support", "rear_panel", OtherValue,
	},
	sides:     {"left", "right", "none", sheet.NotReadable},
	clarities: {"clear", "doubtful", sheet.NotReadable},
}

// anchors are labels that the forms print.
var anchors = []string{
	"評価点", "型式", "走行", "初度登録", "検査員", "車台番号", "出品番号", "車検", "排気量", "注意事項", "内装", "外装色", "セールスポイント", "修復歴",
}

// The values of Note.Author, and the limits of the answers.
const (
	SellerPoints        = "seller_points"
	SellerNotes         = "seller_notes"
	InspectorNotes      = "inspector"
	OfficeNotes         = "office"
	MaxNotes            = 80
	MaxMarks            = 80
	MaxNoteJP           = 120
	MaxNoteMeaning      = 240
	MaxEquipment        = 40
	maxLegend           = 30
	MaxLater            = 12
	maxCircled          = 8
	maxDigits           = 8
	MaxValue            = 40 // characters of a printed value
	readTokens          = 9000
	secondReadingTokens = 1500
	classifyTokens      = 1200
	secondsOfAnswer     = 90
)
