package condition

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
