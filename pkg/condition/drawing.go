package condition

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"ushuru/pkg/datatable"
)

//go:embed drawing.csv
var drawingTable string

var drawing = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, row := range datatable.Rows(drawingTable) {
		all[row[0]] = row[1:]
	}
	return all
})

// Mark is a code on the drawing of the car.
type Mark struct {
	Panel   string // of the closed list of the reading
	Letters string // of the code: XX
	Size    int    // its number; 0 without one
	Legend  string // what the sheet's own legend prints for the letters
}

// bolted and loose are the panels that unscrew, and those that say little.
var (
	bolted = []string{"bonnet", "front_door", "rear_door", "front_fender", "boot", "front_bumper", "rear_bumper"}
	loose  = []string{"grille", "headlamp", "windscreen", "rear_window", "rear_lamp", "door_mirror", "wheel"}
)

// OfMark returns what a mark of the drawing says: it counts like the words.
func OfMark(m Mark) Finding {
	panel := m.Panel
	switch {
	case slices.Contains(bolted, panel):
		panel = "bolted"
	case slices.Contains(loose, panel):
		panel = "loose"
	case drawing()[panel] == nil:
		panel = "other"
	}
	column := m.column()
	f := Finding{Frame, Doubt, ""}
	if column != columnUnknown {
		f.Severity = Severity(drawing()[panel][column])
	}
	switch {
	case column == columnCorroded:
		f.Category = "rust"
	case panel == "bolted" || panel == "loose" || panel == "rear_fender":
		f.Category = "exterior"
	}
	if column == columnUnknown && (panel == "bolted" || panel == "loose" || panel == "rear_fender") {
		f.Severity = Minor
	}
	return f
}

// The columns of drawing.csv.
const (
	columnReplaced = iota
	columnObvious
	columnRepaired
	columnCorroded
	columnCracked
	columnDeep
	columnOther
)

// columnUnknown is none of them.
const columnUnknown = -1

// column returns the column of drawing.csv for a mark. Legend and letters: the
// graver holds, since a stranger can print any legend.
func (m Mark) column() int {
	byLetters := m.byLetters()
	if m.Legend == "" {
		return byLetters
	}
	byLegend := columnOther
	legend := string(fold(m.Legend).runes)
	switch {
	case strings.Contains(legend, "交換"):
		byLegend = columnReplaced
	case strings.Contains(legend, "補修"), strings.Contains(legend, "修復"), strings.Contains(legend, "波"):
		byLegend = columnRepaired
		if m.Size >= 3 {
			byLegend = columnObvious
		}
	case strings.Contains(legend, "腐食"):
		byLegend = columnCorroded
	case strings.Contains(legend, "ワレ"), strings.Contains(legend, "割"), strings.Contains(legend, "亀裂"):
		byLegend = columnCracked
	case byLetters == columnUnknown:
		return columnUnknown
	}
	if byLetters == columnUnknown {
		return byLegend
	}
	return min(byLetters, byLegend)
}

func (m Mark) byLetters() int {
	switch m.Letters {
	case "XX", "X", "RX":
		return columnReplaced
	case "W":
		if m.Size >= 3 {
			return columnObvious
		}
		return columnRepaired
	case "C", "穴", "SC":
		return columnCorroded
	case "Y", "ワレ", "割れ":
		return columnCracked
	case "U", "B", "AU", "UA", "AB", "BA":
		if m.Size >= 3 {
			return columnDeep
		}
		return columnOther
	case "A", "E", "P", "S", "H", "G", "T", "コゲ", "欠", "AS", "AP", "PA", "US", "UP", "SA", "EA", "AE", "UE":
		return columnOther
	}
	for _, word := range []struct {
		part   string
		column int
	}{
		{"交換", columnReplaced},
		{"補修", columnRepaired},
		{"板金", columnRepaired},
		{"腐食", columnCorroded},
		{"ヒビ", columnCracked},
		{"亀裂", columnCracked},
		{"キズ", columnOther},
		{"傷", columnOther},
		{"きず", columnOther},
		{"凹", columnOther},
		{"ヘコミ", columnOther},
		{"エクボ", columnOther},
		{"サビ", columnOther},
		{"錆", columnOther},
		{"さび", columnOther},
		{"塗装", columnOther},
		{"色あせ", columnOther},
		{"飛石", columnOther},
	} {
		if strings.Contains(m.Letters, word.part) {
			return word.column
		}
	}
	for _, letter := range []string{"XX", "X", "W", "C", "Y"} { // AW, XW: both letters count
		if len(m.Letters) == 2 && strings.Contains(m.Letters, letter) {
			return Mark{Letters: letter, Size: m.Size}.byLetters()
		}
	}
	return columnUnknown
}
