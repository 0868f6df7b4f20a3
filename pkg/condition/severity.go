// Package condition judges what is said of the condition of a car, in a text, a mark of the
// drawing or a grade: parts, findings, compounds and denials by rules over tables.
// It knows Japanese as inspectors and sellers write it, and the words of listings
// in English and Kiswahili.
package condition

import (
	"slices"
)

// Severity says what follows from a statement on the condition of a car.
type Severity string

// The severities, in ascending order.
const (
	None       Severity = "none"       // harmless, denied, or no statement
	Minor      Severity = "minor"      // wear, trim, accessories
	Caution    Severity = "caution"    // costs money, or needs a question
	Doubt      Severity = "doubt"      // nobody can say from here; never guilt, never innocence
	Grave      Severity = "grave"      // a fault that a buyer cannot price from here
	Disqualify Severity = "disqualify" // what money does not undo, or a car that does not run
)

var severities = []Severity{None, Minor, Caution, Doubt, Grave, Disqualify}

// Rank orders severities: a higher rank is graver.
func (s Severity) Rank() int { return max(slices.Index(severities, s), 0) }

// IsGrave reports whether a car with such a statement must not be advised.
func (s Severity) IsGrave() bool { return s == Grave || s == Disqualify }

// Category is what a statement is about, of a closed list.
type Category string

// Categories is the closed list, the gravest first.
var Categories = []Category{
	"accident", "frame", "flood", "fire", "theft", "meter", "legal", "as_is", "engine", "transmission", "running_gear",
	"hv_battery", "lamp", "airbag", "rust", "hail", "modified", "history", "electrical", "exterior", "interior",
	"equipment", "none",
}

// The categories that the code names.
const (
	Accident   Category = "accident"
	Frame      Category = "frame"
	Meter      Category = "meter"
	NoCategory Category = "none"
)

// Finding is one statement of a text.
type Finding struct {
	Category Category `json:"category"`
	Severity Severity `json:"severity"`
	Quote    string   `json:"quote"` // of the text, as written
}

// Judgement is what a text says of the condition.
type Judgement struct {
	Findings []Finding  // what stands, the gravest first
	Denied   []Category // what the text denies
	// Unread are the words of the text that no table knows: they may say anything.
	Unread []string
}

// Severity returns that of the gravest finding.
func (j Judgement) Severity() Severity {
	if len(j.Findings) == 0 {
		return None
	}
	return j.Findings[0].Severity
}

// Category returns that of the gravest finding; "none" without one.
func (j Judgement) Category() Category {
	if len(j.Findings) == 0 {
		return NoCategory
	}
	return j.Findings[0].Category
}

// GradeGroup is the kind of an overall grade.
type GradeGroup string

// The groups.
const (
	Graded        GradeGroup = "graded"
	RepairGrade   GradeGroup = "repair_history"
	DisasterGrade GradeGroup = "disaster"   // 1: modified, a disaster, or very rough
	WreckGrade    GradeGroup = "wreck"      // sold as a wreck
	NotGraded     GradeGroup = "not_graded" // the inspector gave none
)

// GroupOf returns the group of a grade of the closed list. RA is a grade of its own,
// not an R with a letter.
func GroupOf(mark string) GradeGroup {
	switch mark {
	case "R", "R1", "R2", "RA", "RB", "RC", "A", "0":
		return RepairGrade
	case "1":
		return DisasterGrade
	case "***", "**", "*", "無効":
		return WreckGrade
	case "X", "-", "T":
		return NotGraded
	}
	return Graded
}

// OfGrade returns what a grade of the closed list says. A good grade clears nothing.
func OfGrade(mark string) (f Finding, found bool) {
	quote := "評価点 " + mark
	switch GroupOf(mark) {
	case RepairGrade, DisasterGrade, WreckGrade:
		return Finding{Accident, Disqualify, quote}, true
	case NotGraded:
		return Finding{"as_is", Grave, quote}, true
	case Graded:
	}
	if mark == "2" {
		return Finding{Accident, Caution, quote}, true
	}
	return Finding{}, false
}
