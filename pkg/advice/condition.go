package advice

import "ushuru/pkg/sheet"

// Condition is the part of an inspection sheet that counts in a comparison. An
// unknown value counts neither for nor against the car.
type Condition struct {
	OverallGrade string // as printed, for example 4.5 or RA; empty means unreadable
	Exterior     string // A to E; empty means not printed or unreadable
	Interior     string // the same
	Repair       string // of the frame: RepairYes, RepairNo or RepairNotStated
	MileageFlag  string // none, replaced, tampered or unknown; empty means unreadable
	Confidence   string // of the reading

	// MileageKM is nil when the number is not certain: two readings differ, or
	// it may be in thousands.
	MileageKM *int

	// High, Medium and Low count the damage codes, circled words and noted
	// defects of each severity.
	High, Medium, Low int
	RedFlags          int
	Mismatches        int // values that differ between the sheet and the listing
}

// The values of Condition.Repair.
const (
	RepairYes       = string(sheet.RepairYes)
	RepairNo        = string(sheet.RepairNo)
	RepairNotStated = string(sheet.RepairNotStated)
)

// NewCondition returns the condition of a car from the report on its sheet and
// from the values in which the sheet differs from the listing.
func NewCondition(report *sheet.Report, mismatches []sheet.Mismatch) *Condition {
	findings := report.CountFindings()
	c := &Condition{
		OverallGrade: valueOf(report.Grades.OverallRaw),
		Exterior:     valueOf(report.Grades.Exterior), Interior: valueOf(report.Grades.Interior),
		Repair: string(report.RepairHistory.Status), MileageFlag: string(valueOf(report.Mileage.Flag)),
		Confidence: string(report.Confidence.Overall),
		High:       findings[sheet.High], Medium: findings[sheet.Medium], Low: findings[sheet.Low],
		RedFlags: len(report.RedFlags),
	}
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

// valueOf returns what a pointer points to; the zero value for nil.
func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}
