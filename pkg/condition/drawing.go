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

//go:embed drawingcodes.csv
var drawingCodes string

var drawing = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, row := range datatable.Rows(drawingTable) {
		all[row[0]] = row[1:]
	}
	return all
})

var codeRows = sync.OnceValue(func() [][]string { return datatable.Rows(drawingCodes) })

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
	isOuter := panel == "bolted" || panel == "loose" || panel == "rear_fender"
	f := Finding{Frame, Doubt, ""}
	switch column := m.column(); {
	case column >= 0:
		f.Severity = Severity(drawing()[panel][column])
		if columns[column] == "corroded" {
			f.Category = "rust"
			return f
		}
	case isOuter:
		f.Severity = Minor
	}
	if isOuter {
		f.Category = "exterior"
	}
	return f
}

// columns are those of drawing.csv, the gravest first.
var columns = []string{"replaced", "obvious", "repaired", "corroded", "cracked", "deep", "other"}

// unknown is no column.
const unknown = -1

// column returns the column of drawing.csv for a mark. Legend and letters: the
// graver holds, since a stranger can print any legend.
func (m Mark) column() int {
	byLetters := m.byLetters()
	if m.Legend == "" {
		return byLetters
	}
	byLegend := m.columnOf("legend", string(fold(m.Legend).runes))
	switch {
	case byLetters == unknown:
		return byLegend
	case byLegend == unknown:
		return byLetters
	}
	return min(byLetters, byLegend)
}

func (m Mark) byLetters() int {
	for _, match := range []string{"whole", "word"} {
		if column := m.columnOf(match, m.Letters); column != unknown {
			return column
		}
	}
	for _, letter := range []string{"XX", "X", "W", "C", "Y"} { // AW, XW: both letters count
		if len(m.Letters) == 2 && strings.Contains(m.Letters, letter) {
			return m.columnOf("whole", letter)
		}
	}
	return unknown
}

// columnOf returns the column of the first row of drawingcodes.csv that a text fits.
func (m Mark) columnOf(match, text string) int {
	for _, row := range codeRows() {
		fits := func(of string) bool { return of == text || match != "whole" && strings.Contains(text, of) }
		if row[0] != match || !slices.ContainsFunc(strings.Fields(row[3]), fits) {
			continue
		}
		if m.Size >= 3 && row[2] != "" {
			return slices.Index(columns, row[2])
		}
		return slices.Index(columns, row[1])
	}
	return unknown
}
