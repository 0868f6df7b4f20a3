package advice

import (
	"slices"
	"strings"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
)

// Condition is the part of an inspection sheet that counts in a comparison. An
// unknown value counts neither for nor against the car.
type Condition struct {
	OverallGrade string             // as printed, for example 4.5 or RA; empty means unreadable
	Exterior     string             // A to E; empty means not printed or unreadable
	Interior     string             // the same
	Repair       sheet.RepairStatus // of the frame
	MileageFlag  string             // none, replaced, tampered or unknown; empty means unreadable

	// MileageKM is nil when the number is not certain: two readings differ, or
	// it may be in thousands.
	MileageKM *int

	// High, Medium and Low count the damage codes, circled words and noted
	// defects of each severity.
	High, Medium, Low int
	Flags             []sheet.RedFlag // what the sheet says or leaves in doubt
	Mismatches        int             // values that differ between the sheet and the listing
}

// NewCondition returns the condition of a car from the report on its sheet and
// from the values in which the sheet differs from the listing.
func NewCondition(report *sheet.Report, mismatches []sheet.Mismatch) *Condition {
	findings := report.CountFindings()
	c := &Condition{
		OverallGrade: valueOf(report.Grades.OverallRaw),
		Exterior:     valueOf(report.Grades.Exterior), Interior: valueOf(report.Grades.Interior),
		Repair: report.RepairHistory.Status, MileageFlag: string(valueOf(report.Mileage.Flag)),
		High: findings[sheet.High], Medium: findings[sheet.Medium], Low: findings[sheet.Low],
	}
	c.Flags = report.RedFlags
	if !report.Mileage.ScaleInferred {
		c.MileageKM = report.Mileage.ValueKM
	}
	for _, m := range mismatches {
		// A car is registered after it was built, so only two registrations differ.
		if m.Field != "year" || m.YearBasis == "" || m.YearBasis == "registration" {
			c.Mismatches++
		}
	}
	return c
}

// has reports whether the sheet has a red flag whose rule begins so.
func (c *Condition) has(rule string) bool {
	return slices.ContainsFunc(c.Flags, func(f sheet.RedFlag) bool { return strings.HasPrefix(f.Rule, rule) })
}

// hasFalseMeter reports whether the sheet says that the odometer is not reliable, by
// its mark or in words.
func (c *Condition) hasFalseMeter() bool {
	return c != nil && (c.saysFalseMeter() || isFalse(c.MileageFlag))
}

func (c *Condition) saysFalseMeter() bool {
	return slices.ContainsFunc(c.Flags, func(f sheet.RedFlag) bool { return f.Category == condition.Meter && f.Level.IsGrave() })
}

// isFalse reports whether a mark of the trade says that the mileage is not true.
func isFalse(mark string) bool {
	return mark == string(sheet.Tampered) || mark == string(sheet.Unknown)
}

// gradeScores are the scores of the overall grades of a sheet. The grades of
// repaired and ungraded cars say little about the rest, and score low.
var gradeScores = map[string]int{
	"S": 100, "9": 100, "8": 100, "7": 100, "6": 95, "5": 90, "4.5": 80, "4": 70, "3.5": 55, "3": 40, "2": 20, "1": 5,
	"R": 15, "R1": 15, "R2": 15, "RA": 15, "RB": 15, "RC": 15, "A": 15, "0": 15,
	"***": 0, "**": 0, "*": 0, "無効": 0,
}

// grade returns the overall grade, when it is one that says something.
func (c *Condition) grade() (grade string, known bool) {
	if c != nil {
		_, known = gradeScores[c.OverallGrade]
	}
	if !known {
		return "", false
	}
	return c.OverallGrade, true
}

// The penalties of score, of 100.
const (
	perHigh          = 8
	perMedium        = 3
	perLow           = 1
	perMismatch      = 20
	perLetterBelowC  = 5
	maxDefectPenalty = 40
)

// score returns 0 to 100. A car without a sheet, and one whose grade says nothing
// (a dash, X, or unreadable), has the fixed score that is the least for a sheet
// without a veto; a sheet with one has less.
func (c *Condition) score(vetoed bool) int {
	unknown := whole("unknown_condition")
	if c == nil {
		return unknown
	}
	score, known := gradeScores[c.OverallGrade]
	for _, letter := range []string{c.Exterior, c.Interior} {
		if letter == "D" || letter == "E" {
			score -= perLetterBelowC
		}
	}
	score -= min(maxDefectPenalty, c.High*perHigh+c.Medium*perMedium+c.Low*perLow)
	score = min(100, max(0, score-c.Mismatches*perMismatch))
	switch {
	case vetoed:
		return score * unknown / 100
	case !known:
		return unknown
	}
	return unknown + score*(100-unknown)/100
}

// valueOf returns what a pointer points to; the zero value for nil.
func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}
