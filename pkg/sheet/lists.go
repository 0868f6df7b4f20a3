package sheet

// Words of every closed list.
const (
	NotPrinted  = "not_printed"
	NotReadable = "unreadable"
	otherValue  = "other"
)

// Kinds of pictures, of Gate.Kind.
const (
	kindSheet = "auction_sheet"
	kindPhoto = "photo"
)

var kinds = []string{kindSheet, kindPhoto, "other_document", "other_picture"}

// anchors are labels that forms print. Two of them, quoted, make a sheet.
var anchors = []string{
	"評価点", "型式", "走行", "初度登録", "検査員", "車台番号", "出品番号", "車検", "排気量", "注意事項", "内装", "外装色", "セールスポイント", "修復歴",
}

var extents = []string{string(Full), string(Partial), string(None)}

// areas are parts of a sheet that may be covered.
var areas = []string{
	"head", "car_data", "grades", "mileage", "dates", "equipment", "seller_notes", "inspector_notes", "office_notes",
	"body_map", "documents", "upper_half", "lower_half", "left_half", "right_half",
}

// houses are those whose forms or names are known.
var houses = []string{
	"USS", "TAA", "CAA", "MIRIVE", "BAYAUC", "IAA Osaka", "HERO", "ARAI", "LAA", "JU", "HAA", "JAA", "NAA", "AUCNET",
	"ASNET", "ZIP", "BCN", "Honda", "ORIX", "ZERO", "LUM", otherValue, NotPrinted, NotReadable,
}

var bases = []string{"printed", "inferred", NotPrinted}

// overallMarks is the closed list of marks beside 評価点.
var overallMarks = []string{
	"S", "9", "8", "7", "6", "5", "4.5", "4", "3.5", "3", "2", "1", "R", "R1", "R2", "RA", "RB", "RC", "A", "0",
	"***", "**", "*", "-", "X", "無効", NotPrinted, NotReadable,
}

// letters are the marks of interior and exterior. Of some the tick or
// apostrophe is part.
var letters = []string{"A", "B", "C", "D", "E", "A'", "B'", "C'", "D'", "E'", NotPrinted, NotReadable}

var (
	units     = []string{"km", "mile", NotPrinted, NotReadable}
	flags     = []string{NotPrinted, "$", "*", "#", NotReadable}
	repairs   = []string{"有", "無", "小", "中", "大", NotPrinted, NotReadable}
	steerings = []string{"右", "左", NotPrinted, NotReadable}
	channels  = []string{"ディーラー", "並行", NotPrinted, NotReadable}
	yesNo     = []string{"有", "無", NotPrinted, NotReadable}
	meters    = []string{"交換車", "改ざん車", "不明車", NotPrinted, NotReadable}
)

// circled words of the printed checklists.
var (
	glassWords  = []string{"キズ", "飛石", "ヒビ割", "リペア跡", "X要", NotReadable}
	insideWords = []string{"コゲ", "穴", "汚れ", "破れ", NotReadable}
)

// Authors of notes, of RawNote.Author.
const (
	sellerPoints    = "seller_points"
	sellerNotes     = "seller_notes"
	inspectorNotes  = "inspector"
	officeNotes     = "office"
	maxNotes        = 80
	maxMarks        = 80
	maxNoteJP       = 120
	maxNoteMeaning  = 240
	maxEquipment    = 40
	maxLegend       = 30
	maxLater        = 12
	maxCircled      = 8
	mostDigitBoxes  = 8
	maxValue        = 40 // characters of a printed value
	answerTokens    = 9000
	secondTokens    = 1500
	gateTokens      = 1200
	secondsOfAnswer = 90
)

var (
	// What is none of these is a seller's note: it shall gain no weight.
	authors   = []string{sellerPoints, inspectorNotes, officeNotes, sellerNotes}
	noteKinds = []string{string(Defect), string(Option), string(InfoNote)}
	noteAreas = []string{
		string(Outside), string(Inside), string(Mechanical), string(Repair), string(MeterArea), string(Equipped),
	}
)

// panels are the parts of the unfolded car.
var panels = []string{
	"front_bumper", "grille", "headlamp", "bonnet", "windscreen", "roof", "rear_window", "boot", "rear_bumper", "rear_lamp",
	"front_fender", "front_door", "rear_door", "rear_fender", "sill", "pillar", "door_mirror", "wheel", "floor",
	"core_support", "rear_panel", otherValue,
}

// sides as the sheet marks them.
var sides = []string{"left", "right", "none", NotReadable}

var clarities = []string{"clear", "doubtful", NotReadable}
