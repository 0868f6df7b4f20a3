package sheet_test

import (
	"os"
	"strings"
	"testing"
)

// Matengenezo is maintenance: a text about repair history that says it would tell a
// buyer that a car with a repaired frame was well looked after.
func TestRepairHistoryIsNotMaintenance(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"texts.csv", "codes.csv", "words.csv", "glossary.csv"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			about := strings.ToLower(line)
			isRepair := strings.Contains(about, "repair history") || strings.Contains(about, "修復歴") ||
				strings.Contains(about, "repair_history") || strings.Contains(about, "frame was repaired")
			if isRepair && strings.Contains(about, "matengenezo") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
