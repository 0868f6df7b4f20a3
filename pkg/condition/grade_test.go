package condition_test

import (
	"testing"

	"ushuru/pkg/condition"
)

// TestLowerGradesAreGraver: 3 and better say nothing of themselves, 2 is a reason to ask,
// and 1 or R a reason not to buy.
func TestLowerGradesAreGraver(t *testing.T) {
	t.Parallel()
	for grade, want := range map[string]condition.Finding{
		"6": {}, "5": {}, "4.5": {}, "4": {}, "3.5": {}, "3": {},
		"2":  {Category: condition.Accident, Severity: condition.Caution},
		"X":  {Category: "as_is", Severity: condition.Grave},
		"1":  {Category: condition.Accident, Severity: condition.Disqualify},
		"R":  {Category: condition.Accident, Severity: condition.Disqualify},
		"RA": {Category: condition.Accident, Severity: condition.Disqualify},
	} {
		if want.Severity != "" {
			want.Quote = "評価点 " + grade
		}
		if got, found := condition.OfGrade(grade); got != want || found != (want.Severity != "") {
			t.Errorf("grade %s: got %+v, %v, want %+v", grade, got, found, want)
		}
	}
	two, _ := condition.OfGrade("2")
	three, _ := condition.OfGrade("3")
	if two.Severity.Rank() <= three.Severity.Rank() {
		t.Errorf("grade 2 is %q, which is not graver than %q of grade 3", two.Severity, three.Severity)
	}
}
