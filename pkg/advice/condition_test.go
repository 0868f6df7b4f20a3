package advice_test

import (
	"testing"
	"time"

	"ushuru/pkg/advice"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
)

func TestConditionOfASheet(t *testing.T) {
	known := interpret.Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	report := interpret.Transcript(transcribetest.Prius(), known)
	c := advice.NewCondition(report, []sheet.Mismatch{
		{Field: "colour"}, {Field: "year", YearBasis: "registration"}, {Field: "year", YearBasis: "manufacture"},
	})
	if c.OverallGrade != "4" || c.Exterior != "C" || c.Interior != "B" || c.Repair != sheet.RepairNotStated ||
		*c.MileageKM != 87654 || c.MileageFlag != "none" || c.Mismatches != 2 {
		t.Errorf("%+v", c)
	}
	if c.High != 3 || c.Medium != 2 || c.Low != 4 || report.CountFindings()[sheet.NotKnown] != 0 {
		t.Errorf("findings %+v", c)
	}
	short := transcribetest.Prius()
	short.Reading.Mileage.Digits, short.Second.Boxes = "089", []string{"0", "8", "9"}
	if c := advice.NewCondition(interpret.Transcript(short, known), nil); c.MileageKM != nil {
		t.Errorf("a mileage that may be in thousands counts: %d", *c.MileageKM)
	}
	blank := transcribe.Transcript{Classification: transcribetest.Prius().Classification}
	if c := advice.NewCondition(interpret.Transcript(blank, known), nil); c.OverallGrade != "" || c.MileageKM != nil || c.High > 0 {
		t.Errorf("%+v", c)
	}
}
