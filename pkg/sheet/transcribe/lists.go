package transcribe

import (
	"slices"

	"ushuru/pkg/sheet"
)

// OtherValue stands in some lists for a value that is not on the list.
const OtherValue = "other"

// notSaid is the answer where the sheet says nothing.
const notSaid = "not_said"

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

	saidAnswers List = "saidAnswers"
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

	saidAnswers: {notSaid, "no", "yes"},
}

// anchors are labels that the forms print, each with its other names. A quote counts
// that has one of them anywhere: 評価点 4.5, 初度登録年月.
var anchors = [][]string{
	{"評価点", "総合評価", "評点", "評価"},
	{"型式", "認定型式"},
	{"走行", "走行距離", "走行(km)"},
	{"初度登録", "初年度登録", "初度検査", "年式"},
	{"検査員", "検査報告", "検査欄"},
	{"車台番号", "車台No", "車体番号"},
	{"出品番号", "出品No", "ロット"},
	{"車検"},
	{"排気量"},
	{"注意事項", "注意欄"},
	{"内装", "室内"},
	{"外装色", "外装"},
	{"カラーNo", "カラー番号"},
	{"色替", "元色"},
	{"名義変更", "名変"},
	{"最大積載", "積載量"},
	{"車歴"},
	{"登録番号"},
	{"諸元", "寸法"},
	{"セールスポイント", "セールス"},
	{"修復歴"},
	{"車名"},
	{"グレード"},
	{"シフト", "ミッション"},
	{"燃料"},
	{"乗車定員", "定員"},
	{"出品店"},
	{"会場"},
	{"開催"},
	{"リサイクル"},
	{"エアコン", "冷房"},
	{"装備"},
	{"車歴"},
	{"車両展開図", "展開図"},
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
