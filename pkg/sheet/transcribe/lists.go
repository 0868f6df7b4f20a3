package transcribe

import (
	_ "embed" // lists.csv and anchors.csv
	"slices"
	"strings"

	"ushuru/pkg/datatable"
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

	extents List = "extents"
	areas   List = "areas"
)

// Has reports whether a value is on the list.
func (l List) Has(value string) bool { return slices.Contains(values[l], value) }

//go:embed lists.csv
var listTable string

// values are those of each list.
var values = func() map[List][]string {
	all := map[List][]string{}
	for _, row := range datatable.Lines(listTable, 2) {
		all[List(row[0])] = strings.Split(row[1], "|")
	}
	return all
}()

//go:embed anchors.csv
var anchorTable string

// anchors are labels that the forms print, each with its other names. A quote counts
// that has one of them anywhere: 評価点 4.5, 初度登録年月.
var anchors = func() (all [][]string) {
	for _, row := range datatable.Lines(anchorTable, 1) {
		all = append(all, strings.Split(row[0], "|"))
	}
	return all
}()

// The values of Note.Author, and the limits of the answers.
const (
	SellerPoints    = "seller_points"
	SellerNotes     = "seller_notes"
	InspectorNotes  = "inspector"
	OfficeNotes     = "office"
	MaxNotes        = 80
	MaxMarks        = 80
	MaxNoteJP       = 120
	MaxNoteMeaning  = 240
	MaxEquipment    = 40
	MaxLater        = 12
	MaxValue        = 40 // characters of a printed value
	secondsOfAnswer = 90
)
