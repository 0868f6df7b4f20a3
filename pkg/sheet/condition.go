package sheet

// Condition is what a comparison needs of a sheet. Nil is not known, which is
// no better and no worse than anything.
type Condition struct {
	Grade      string       // as printed; "" when it could not be read
	GradeGroup GradeGroup   // "" when it could not be read
	Exterior   string       // A to E; "" when not printed or not read
	Interior   string       // the same
	Repair     RepairStatus // of the frame
	// MileageKM is nil when the number is not certain: digits that two looks
	// read differently, or that may be thousands.
	MileageKM   *int
	MileageFlag Flag // "" when it could not be read
	// Findings counts codes on the map, circled words and noted faults by
	// severity.
	Findings   map[Severity]int
	RedFlags   []RedFlag
	Confidence Level
}

// Condition returns what a comparison needs.
func (r *Report) Condition() Condition {
	c := Condition{
		Grade: deref(r.Grades.OverallRaw), Exterior: deref(r.Grades.Exterior), Interior: deref(r.Grades.Interior),
		Repair: r.RepairHistory.Status, Findings: map[Severity]int{}, RedFlags: r.RedFlags, Confidence: r.Confidence.Overall,
	}
	if r.Grades.Group != nil {
		c.GradeGroup = *r.Grades.Group
	}
	if r.Mileage.Flag != nil {
		c.MileageFlag = *r.Mileage.Flag
	}
	if !r.Mileage.ScaleInferred {
		c.MileageKM = r.Mileage.ValueKM
	}
	for _, mark := range r.BodyMap {
		c.Findings[mark.Severity]++
	}
	for _, list := range [][]Finding{r.Glass, r.Inside} {
		for _, finding := range list {
			c.Findings[finding.Severity]++
		}
	}
	for _, note := range r.AllNotes() {
		if note.Kind == Defect {
			c.Findings[note.Severity]++
		}
	}
	return c
}
